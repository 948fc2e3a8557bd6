// Before the first paint, so that a remembered theme never flashes. A file of its own: the page allows no inline scripts.
const theme = localStorage.getItem('theme');
if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
