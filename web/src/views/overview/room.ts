// The parts of a canvas that are occupied, in cells. Lines are drawn into it as on a canvas.

import type { Pen } from './lines';

/** In pixels. Names are nearly as high as six cells. */
const CELL = 2;

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export class Room implements Pen {
  readonly #cells: Uint8Array;
  readonly #columns: number;
  readonly #rows: number;
  #x = 0;
  #y = 0;

  constructor(width: number, height: number) {
    this.#columns = Math.max(0, Math.ceil(width / CELL));
    this.#rows = Math.max(0, Math.ceil(height / CELL));
    this.#cells = new Uint8Array(this.#columns * this.#rows);
  }

  /** Occupies an area. */
  block(box: Box): void {
    const [left, top, right, bottom] = this.#within(box);
    // For `fill`, a negative end counts from the end of all cells.
    if (left > right) return;
    for (let row = top; row <= bottom; row += 1) {
      this.#cells.fill(1, row * this.#columns + left, row * this.#columns + right + 1);
    }
  }

  isFree(box: Box): boolean {
    const [left, top, right, bottom] = this.#within(box);
    for (let row = top; row <= bottom; row += 1) {
      for (let cell = row * this.#columns + left, end = cell + right - left; cell <= end; cell += 1) {
        if (this.#cells[cell]) return false;
      }
    }
    return true;
  }

  moveTo(x: number, y: number): void {
    [this.#x, this.#y] = [x, y];
  }

  lineTo(x: number, y: number): void {
    const [x0, y0] = [this.#x, this.#y];
    this.moveTo(x, y);
    // A line may leave the canvas by a hundred times its size, so only the visible part is walked.
    const [from, to] = this.#visible(x0, y0, x - x0, y - y0);
    if (from > to) return;
    const steps = Math.max(1, Math.ceil((Math.max(Math.abs(x - x0), Math.abs(y - y0)) * (to - from)) / (CELL / 2)));
    for (let step = 0; step <= steps; step += 1) {
      const part = from + ((to - from) * step) / steps;
      const column = Math.floor((x0 + (x - x0) * part) / CELL);
      const row = Math.floor((y0 + (y - y0) * part) / CELL);
      if (column < 0 || row < 0 || column >= this.#columns || row >= this.#rows) continue;
      this.#cells[row * this.#columns + column] = 1;
    }
  }

  /** The part of a line that is on the canvas, between 0 and 1. */
  #visible(x: number, y: number, dx: number, dy: number): [from: number, to: number] {
    let [from, to] = [0, 1];
    for (const [start, along, end] of [
      [x, dx, this.#columns * CELL],
      [y, dy, this.#rows * CELL],
    ] as const) {
      if (along === 0) {
        if (start < 0 || start > end) return [1, 0];
        continue;
      }
      const [a, b] = [-start / along, (end - start) / along];
      from = Math.max(from, Math.min(a, b));
      to = Math.min(to, Math.max(a, b));
    }
    return [from, to];
  }

  #within({ left, top, right, bottom }: Box): [left: number, top: number, right: number, bottom: number] {
    return [
      Math.max(0, Math.floor(left / CELL)),
      Math.max(0, Math.floor(top / CELL)),
      Math.min(this.#columns - 1, Math.floor(right / CELL)),
      Math.min(this.#rows - 1, Math.floor(bottom / CELL)),
    ];
  }
}
