import { render } from 'solid-js/web';
import './style/tokens.css';
import './style/base.css';
import { SessionProvider } from './state/session';
import { App } from './views/frame/App';

const root = document.getElementById('root')!;
root.textContent = '';
render(
  () => (
    <SessionProvider>
      <App />
    </SessionProvider>
  ),
  root,
);
