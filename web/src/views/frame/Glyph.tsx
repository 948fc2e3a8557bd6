/** A tree trained along three wires. */
export function Glyph() {
  return (
    <svg class="glyph" viewBox="0 0 24 24" aria-hidden="true">
      <path d="M12 23V3M12 20l-3-3H2M12 20l3-3h7M12 13l-3-3H2M12 13l3-3h7M12 6 9 3H2M12 6l3-3h7" />
    </svg>
  );
}
