import { createRoot } from 'react-dom/client';
import { createBrowserRouter, Link, Outlet, RouterProvider } from 'react-router';

const Layout = () => (
  <>
    <Outlet />
    <nav>
      <Link to="/">Home</Link> <Link to="/other/">Other</Link>
    </nav>
  </>
);
const children = [
  { index: true, element: <h1>Home</h1> },
  { path: 'other/', element: <h1>Other</h1> },
];
const routes = [{ path: '/', element: <Layout />, loader: () => null, children }];

window.router = createBrowserRouter(routes, { basename: '/react-router' });
createRoot(document.getElementById('app')).render(<RouterProvider router={window.router} />);
