import dns from 'dns2';

/** A name server of the test on loopback. It knows TXT records only. */
export type TestDns = {
  /** `127.0.0.1:<port>`, for `DNS_SERVERS`. */
  address: string;
  /** The records of each name; a name that is not here does not exist. */
  txt: Map<string, string[]>;
  /** Responds with SERVFAIL from now on, or stops doing so. */
  fail(isFailing: boolean): void;
  close(): Promise<void>;
};

export async function startDns(): Promise<TestDns> {
  const { Packet } = dns;
  const txt = new Map<string, string[]>();
  let isFailing = false;
  const server = dns.createServer({
    udp: true,
    handle: (request, send) => {
      const response = Packet.createResponseFromRequest(request);
      const name = request.questions[0]?.name ?? '';
      const values = txt.get(name.toLowerCase());
      if (isFailing) response.header.rcode = Packet.RCODE.SERVFAIL;
      else if (values === undefined) response.header.rcode = Packet.RCODE.NXDOMAIN;
      for (const data of isFailing ? [] : (values ?? [])) {
        const record = { name, type: Packet.TYPE.TXT, class: Packet.CLASS.IN, ttl: 0, data };
        response.answers.push(Object.assign(new Packet.Resource(name), record));
      }
      send(response);
    },
  });
  const { udp } = await server.listen({ udp: { port: 0, address: '127.0.0.1' } });
  if (!udp) throw new Error('the name server does not listen');
  return {
    address: `127.0.0.1:${udp.port}`,
    txt,
    fail(failing) {
      isFailing = failing;
    },
    close: async () => {
      await server.close();
    },
  };
}
