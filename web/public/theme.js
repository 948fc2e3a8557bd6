// Before the first paint, so that a remembered theme never flashes. A build puts it into the page;
// its hash is in the page's policy.
const theme = localStorage.getItem('theme');
if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
