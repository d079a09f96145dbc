'use client';
import Link from 'next/link';
import { useRouter, useSearchParams } from 'next/navigation';
import { useEffect } from 'react';

/** What a test presses: a link, and the router's own functions as `window.router`. */
export function Controls() {
  const router = useRouter();
  const search = useSearchParams();
  useEffect(() => {
    window.router = router;
  }, [router]);
  return (
    <nav data-search={search.toString()}>
      <Link href="/">Home</Link> <Link href="/other/">Other</Link>
    </nav>
  );
}
