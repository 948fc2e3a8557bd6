// Formats numbers. Times have a fixed number of digits, so that the text does not move while they
// run.

const whole = new Intl.NumberFormat('en');

export function count(number: number): string {
  return whole.format(number);
}

export function counted(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(milliseconds < 9_995 ? 2 : 1)} s`;
}

export function bytes(number: number): string {
  if (number < 1_000_000) return `${(number / 1000).toFixed(0)} kB`;
  return `${(number / 1_000_000).toFixed(1)} MB`;
}
