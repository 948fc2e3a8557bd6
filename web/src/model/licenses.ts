// Classes of licenses, by their obligations. Only SPDX identifiers are known. An expression with
// `OR` is as lenient as its most lenient part, and one with `AND` is as strict as its strictest
// part.

export type LicenseClass = 'permissive' | 'weak' | 'copyleft' | 'other' | 'none';

const PERMISSIVE =
  /^(?:MIT(?:-0)?|ISC|BSD(?:-\d-Clause.*)?|0BSD|Apache-2\.0|Unlicense|CC0-1\.0|CC-BY-[34]\.0|BlueOak-1\.0\.0|Python-2\.0|Zlib|WTFPL|Artistic-2\.0|BSL-1\.0|Unicode-.*)$/i;
const WEAK = /^(?:MPL-|LGPL-|EPL-|CDDL-)/i;
const COPYLEFT = /^(?:A?GPL-|EUPL-|OSL-|CC-BY-SA-)/i;
const STRICTNESS: readonly LicenseClass[] = ['permissive', 'weak', 'copyleft', 'other'];

export function licenseClass(license: string | undefined): LicenseClass {
  if (!license) return 'none';
  const either = license.replace(/[()]/g, ' ').split(/\sOR\s/i);
  const ranks = either.map((part) =>
    Math.max(...part.split(/\sAND\s/i).map((one) => STRICTNESS.indexOf(single(one.trim())))),
  );
  return STRICTNESS[Math.min(...ranks)]!;
}

function single(license: string): LicenseClass {
  if (PERMISSIVE.test(license)) return 'permissive';
  if (WEAK.test(license)) return 'weak';
  if (COPYLEFT.test(license)) return 'copyleft';
  return 'other';
}
