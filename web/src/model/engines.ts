// The Node.js versions that packages support.

/**
 * Whether a range allows only later major versions. Only plain ranges are judged: `>=22`,
 * `^22.1.0`, `22 || >=24`.
 */
export function isTooNew(range: string | undefined, major: number): boolean {
  if (!range || !/\d/.test(range)) return false;
  const alternatives = range.split('||').map((part) => part.trim());
  return alternatives.every((part) => {
    const [, operator, number] = /^(>=|>|\^|~|=)?\s*v?(\d+)/.exec(part) ?? [];
    return number !== undefined && operator !== undefined && Number(number) > major;
  });
}
