import { render } from 'solid-js/web';
import './style/tokens.css';
import './style/base.css';
import { SessionProvider } from './state/session';
import { App } from './views/frame/App';

render(
  () => (
    <SessionProvider>
      <App />
    </SessionProvider>
  ),
  document.getElementById('root')!,
);
