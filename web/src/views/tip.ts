// Places a tip beside the pointer, on its other side where the view ends.

const AWAY = 14;

export function placeTip(
  tip: HTMLElement,
  pointer: { readonly x: number; readonly y: number },
  room: { readonly width: number; readonly height: number },
): void {
  const x = beside(pointer.x, tip.offsetWidth, room.width);
  const y = beside(pointer.y, tip.offsetHeight, room.height);
  tip.style.transform = `translate(${x}px, ${y}px)`;
}

function beside(at: number, length: number, end: number): number {
  return Math.max(0, at + AWAY + length <= end ? at + AWAY : Math.min(at - AWAY - length, end - length));
}
