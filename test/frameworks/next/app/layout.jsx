import { Suspense } from 'react';
import { Controls } from './controls.jsx';

export const metadata = { title: 'Shop' };

export default function Layout({ children }) {
  return (
    <html lang="en">
      <head>
        <script async src="/pixel.js?key=pk_live_frameworks" />
      </head>
      <body>
        {children}
        <Suspense>
          <Controls />
        </Suspense>
      </body>
    </html>
  );
}
