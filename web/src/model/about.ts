// The facts in a version's document that the tree lacks: description, links and module formats. The
// document is untrusted, so only web addresses are accepted.

export interface About {
  readonly description?: string;
  readonly homepage?: string;
  readonly repository?: string;
  /** `ESM`, `CommonJS`, or both. */
  readonly modules?: string;
  /** Whether it includes types. */
  readonly types: boolean;
}

export function aboutOf(document: unknown): About | undefined {
  if (!isObject(document)) return undefined;
  const { description, homepage, repository } = document;
  const home = webAddress(homepage);
  const source = webAddress(isObject(repository) ? repository.url : repository);
  const modules = modulesOf(document);
  return {
    ...(typeof description === 'string' && description !== '' ? { description } : {}),
    ...(home ? { homepage: home } : {}),
    ...(source && source !== home ? { repository: source } : {}),
    ...(modules ? { modules } : {}),
    types:
      ['types', 'typings'].some((field) => typeof document[field] === 'string') || names(document.exports, 'types'),
  };
}

/**
 * `git+https://host/a/b.git`, `git@host:a/b.git` and `github:a/b` lead to the same page as
 * `https://host/a/b`.
 */
function webAddress(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const plain = value
    .trim()
    .replace(/^(?:git\+)?(?:ssh:\/\/)?git@([^:/]+)[:/]/, 'https://$1/')
    .replace(/^git\+(?=https?:)/, '')
    .replace(/^git:\/\//, 'https://')
    .replace(/^(?:github:)?([\w.-]+\/[\w.-]+)$/, 'https://github.com/$1')
    .replace(/\.git(?=#|$)/, '');
  try {
    const { protocol, href, username, password } = new URL(plain);
    return (protocol === 'https:' || protocol === 'http:') && !username && !password ? href : undefined;
  } catch {
    return undefined;
  }
}

function modulesOf(document: Record<string, unknown>): string | undefined {
  const { type, main, module, exports } = document;
  if (type === undefined && main === undefined && module === undefined && exports === undefined) return undefined;
  const isModule = type === 'module' || typeof module === 'string' || names(exports, 'import');
  const isScript = type !== 'module' || names(exports, 'require');
  return isModule && isScript ? 'ESM and CommonJS' : isModule ? 'ESM only' : 'CommonJS';
}

/** Whether a condition is named anywhere in `exports`. */
function names(exports: unknown, condition: string, depth = 0): boolean {
  if (!isObject(exports) || depth > 8) return false;
  return Object.entries(exports).some(([key, value]) => key === condition || names(value, condition, depth + 1));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
