import { Suspense, useState } from 'react';
import { QueryView } from '../parts/query-view.tsx';
import { MapSkeleton } from '../parts/skeletons.tsx';
import { lazyPage } from '../shell/lazy-page.tsx';
import { mapBody, type Result, useAnalytics, useSource } from './source.ts';
import { useView } from './use-view.ts';

const SHAPES = lazyPage<{ result: Result }>(() => import('./world-shapes-map.tsx'));

/** Countries of the world, darker with more of the chosen metric. The list of countries offers the same by keyboard. */
export function WorldMap() {
  const { view } = useView();
  const query = useAnalytics(mapBody(view, useSource()));
  const [Shapes] = useState(() => SHAPES.component());
  return (
    <QueryView query={query} skeleton={<MapSkeleton />}>
      {(result) => (
        <Suspense fallback={<MapSkeleton />}>
          <Shapes result={result} />
        </Suspense>
      )}
    </QueryView>
  );
}
