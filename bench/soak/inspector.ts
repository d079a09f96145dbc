import { setTimeout as delay } from 'node:timers/promises';

/** Memory of a process with all threads after a forced collection, bytes. */
export type Heap = { heap: number; buffers: number };

type Reply = {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: unknown;
};
type Call = (method: string, params?: object) => Promise<unknown>;

/**
 * Returns the environment of a process that {@link createHeapProbe} measures. It uses any free port, so that several
 * processes can listen.
 *
 * @param address at which this process reaches it
 */
export function probedAt(address: string): { NODE_OPTIONS: string } {
  return { NODE_OPTIONS: `--inspect-port=${address}:0` };
}

const PATIENCE_MS = 20_000;
const LISTENING = /Debugger listening on (ws:\S+)\s/g;

/**
 * Measures the heap of running processes of Node.js through their inspectors, which SIGUSR1 opens.
 *
 * @param log standard error of the processes, which contains the address of each inspector
 * @param patienceMs limit of a measurement, milliseconds
 */
export function createHeapProbe(log: () => string, patienceMs = PATIENCE_MS) {
  const addresses = new Map<number, string>();
  const tried = new Set<string>();

  /** Measures inspectors not measured yet: a hung process may open its inspector, or respond, late. */
  async function measureNew(pid: number): Promise<Heap | null> {
    for (const [, url = ''] of log().matchAll(LISTENING)) {
      if (tried.has(url)) continue;
      tried.add(url);
      const measured = await measureAt(url, patienceMs).catch((error) => {
        // A hung process, or one on a host without network, is tried again. Other failures mean that it has exited.
        if (error instanceof NoResponse) tried.delete(url);
        return null;
      });
      if (measured) addresses.set(measured.pid, url);
      if (measured?.pid === pid) return measured;
    }
    return null;
  }

  /** Forces a collection and measures one process. @throws Error when the process exits or hangs */
  return async function measure(pid: number): Promise<Heap> {
    const url = addresses.get(pid);
    if (url !== undefined) return measureAt(url, patienceMs);
    process.kill(pid, 'SIGUSR1');
    for (const late = Date.now() + patienceMs; Date.now() < late; await delay(20)) {
      const measured = await measureNew(pid);
      if (measured) return measured;
    }
    throw new Error(`process ${pid} did not open its inspector within ${patienceMs} ms`);
  };
}

export type HeapProbe = ReturnType<typeof createHeapProbe>;

class NoResponse extends Error {}

async function measureAt(url: string, patienceMs: number): Promise<Heap & { pid: number }> {
  const socket = new WebSocket(url);
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  failed.catch(() => undefined);
  const timer = setTimeout(() => fail(new NoResponse('the inspector did not respond')), patienceMs);
  const waiting = new Map<number, (reply: Reply) => void>();
  const threads: string[] = [];
  let last = 0;

  function receive(reply: Reply): void {
    if (reply.id !== undefined) {
      waiting.get(reply.id)?.(reply);
      waiting.delete(reply.id);
    } else if (reply.method === 'NodeWorker.attachedToWorker') {
      threads.push(String(reply.params?.sessionId));
    } else if (reply.method === 'NodeWorker.receivedMessageFromWorker') {
      receive(JSON.parse(String(reply.params?.message)) as Reply);
    }
  }

  function answerTo(id: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      waiting.set(id, ({ result, error }) =>
        error ? reject(new Error(JSON.stringify(error))) : resolve(result),
      );
    });
  }

  const call: Call = (method, params = {}) => {
    const id = ++last;
    socket.send(JSON.stringify({ id, method, params }));
    return answerTo(id);
  };
  const callThread = (sessionId: string): Call => {
    return async (method, params = {}) => {
      const id = ++last;
      const message = JSON.stringify({ id, method, params });
      const answered = answerTo(id);
      await call('NodeWorker.sendMessageToWorker', { sessionId, message });
      return answered;
    };
  };

  async function measure(): Promise<Heap & { pid: number }> {
    await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));
    await call('NodeWorker.enable', { waitForDebuggerOnStart: false });
    const sum = { pid: 0, heap: 0, buffers: 0 };
    for (const one of [call, ...threads.map(callThread)]) {
      const { pid, heap, buffers } = await heapOf(one);
      sum.pid = pid;
      sum.heap += heap;
      sum.buffers += buffers;
    }
    return sum;
  }

  socket.addEventListener('message', ({ data }) => receive(JSON.parse(String(data)) as Reply));
  socket.addEventListener('close', () => fail(new Error('the process has exited')), { once: true });
  socket.addEventListener('error', () => fail(new Error('the inspector is unreachable')), { once: true });
  try {
    return await Promise.race([measure(), failed]);
  } finally {
    clearTimeout(timer);
    socket.close();
  }
}

/** Measures one thread. */
async function heapOf(call: Call): Promise<Heap & { pid: number }> {
  await call('HeapProfiler.collectGarbage');
  const expression = 'JSON.stringify({ pid: process.pid, ...process.memoryUsage() })';
  const { result } = (await call('Runtime.evaluate', { expression })) as { result: { value: string } };
  const { pid, heapUsed, arrayBuffers } = JSON.parse(result.value) as NodeJS.MemoryUsage & { pid: number };
  return { pid, heap: heapUsed, buffers: arrayBuffers };
}
