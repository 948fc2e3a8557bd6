import { createRoot } from 'react-dom/client'

createRoot(document.getElementById('root')).render(<p>grown on a wall</p>)
