// The sandbox: it installs the dependencies of package.json, bundles the edited files, and runs the
// bundle in the preview.

import { Bundler, type Bundle } from './bundler.ts';
import type { Editor } from './editor.ts';
import { Packages, type Installed } from './packages.ts';
import { Preview } from './preview.ts';
import { Project, withDependency } from './project.ts';
import * as view from './view.ts';
import './style.css';

/** The pause in typing, in milliseconds, after which an edit takes effect. */
const PAUSE = { bundle: 250, install: 600 };

const registry = new URLSearchParams(location.search).get('registry') ?? undefined;
const project = new Project();
const packages = new Packages(registry);
const bundler = new Bundler();
const preview = new Preview(view.find('.preview'), (message) => message.type !== 'ran' && view.log(message));
/** The editor is half of the page's code, so it is loaded during the installation. */
let editor: Editor | undefined;
let installed: Installed | undefined;
/** The package.json of the last installation, successful or not. */
let asked: string | undefined;
let pending: ReturnType<typeof setTimeout> | undefined;

view.find<HTMLFormElement>('.add').addEventListener('submit', (event) => {
  event.preventDefault();
  const field = view.find<HTMLInputElement>('.add input');
  const [, name = '', spec = 'latest'] = /^((?:@[^@/]+\/)?[^@/]+)(?:@(.+))?$/.exec(field.value.trim()) ?? [];
  field.value = '';
  depend(name, spec);
});
view.find('.reset').addEventListener('click', () => {
  Project.forget();
  location.reload();
});
void install();
void startEditor();

async function startEditor(): Promise<void> {
  const { Editor } = await import('./editor.ts');
  // Loading and starting it are separated by a frame, so that neither keeps the page busy for long.
  await new Promise(requestAnimationFrame);
  editor = new Editor(view.find('main'), edited);
  open('App.jsx');
}

function open(file: string): void {
  editor?.open(file, project.files[file] ?? '');
  view.showFiles(Object.keys(project.files), file, open);
}

function edited(file: string, text: string): void {
  project.files[file] = text;
  project.save();
  clearTimeout(pending);
  if (file === 'package.json') pending = setTimeout(install, PAUSE.install);
  else pending = setTimeout(run, PAUSE.bundle);
}

/** Adds a dependency to package.json, or removes it, and installs. */
function depend(name: string, spec: string | undefined): void {
  if (!project.dependencies) return view.say('package.json can’t be read as it is.', true);
  change(withDependency(project.manifest, name, spec));
  clearTimeout(pending);
  void install();
}

function change(manifest: string): void {
  project.files['package.json'] = manifest;
  editor?.replace('package.json', manifest);
  project.save();
}

async function install(): Promise<void> {
  const wanted = JSON.stringify(project.dependencies);
  if (wanted === undefined) return view.say('package.json can’t be read as it is.', true);
  if (wanted === asked && installed) return run();
  asked = wanted;
  showDependencies();
  try {
    installed = await packages.install(project.manifest, project.lockfile, view.say);
  } catch (error) {
    // A newer installation has replaced this one and will report.
    if ((error as Error).name !== 'AbortError') view.say((error as Error).message, true);
    return;
  }
  project.lockfile = installed.lockfile;
  saveTags(installed);
  project.save();
  showDependencies();
  await run();
}

/** As in npm, a tag is saved as the range of the version that it points to. */
function saveTags({ versions }: Installed): void {
  for (const [name, spec] of Object.entries(project.dependencies ?? {})) {
    const version = versions.get(name);
    if (spec === 'latest' && version) change(withDependency(project.manifest, name, `^${version}`));
  }
  asked = JSON.stringify(project.dependencies);
}

function showDependencies(): void {
  view.showDependencies(project.dependencies ?? {}, installed?.versions ?? new Map(), (name) =>
    depend(name, undefined),
  );
}

async function run(): Promise<void> {
  if (!installed) return;
  const { 'package.json': _, ...sources } = project.files;
  const bundle = await bundler.bundle(sources, installed);
  if (!bundle) return;
  view.clearLog();
  if ('problems' in bundle) return showProblems(bundle.problems);
  view.say(`${installed.sentence} ${bundle.inputs} modules bundled in ${seconds(bundle.elapsed)}.`);
  await preview.run(bundle);
}

function showProblems(problems: Extract<Bundle, { problems: unknown }>['problems']): void {
  view.say(
    problems.length === 1 ? 'The app can’t be bundled.' : `The app can’t be bundled: ${problems.length} problems.`,
    true,
  );
  for (const { file, line, column, text } of problems) {
    view.log({ type: 'error', text: file ? `${file}:${line}:${column} ${text}` : text });
  }
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
