import { useState } from 'react';
import clsx from 'clsx';

export default function App() {
  const [count, setCount] = useState(0);
  return (
    <main>
      <h1>Grown in this tab</h1>
      <p>
        React was resolved, fetched, verified and bundled
        right here. Edit this file, or add a package.
      </p>
      <button
        className={clsx('counter', count > 0 && 'used')}
        onClick={() => setCount(count + 1)}
      >
        Count: {count}
      </button>
    </main>
  );
}
