import type { Values } from './rendering.ts';

export const ORIGINS: Values = { shortUrl: 'https://go.example', baseUrl: 'https://api.example' };
export const EXTERNAL: Values = { ...ORIGINS, kafka: { brokers: 'kafka-1:9092,kafka-2:9092' } };
export const BUNDLED: Values = {
  ...ORIGINS,
  postgres: { bundled: true },
  clickhouse: { bundled: true },
  kafka: { bundled: true },
};

const scaled = { autoscaling: { enabled: true } };

/** A container that meets the strictest policy of a cluster. */
const LOCKED_UP = {
  name: 'proxy',
  image: 'proxy:1',
  resources: { limits: { memory: '64Mi' } },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
};

/** Installations that a person may want, by name. */
export const INSTALLATIONS = {
  'external databases': EXTERNAL,
  'bundled databases': BUNDLED,
  'autoscaling, Ingress, and monitoring': {
    ...EXTERNAL,
    ingest: { ...scaled, service: { type: 'LoadBalancer' } },
    api: scaled,
    workers: scaled,
    monitoring: {
      scrapeAnnotations: true,
      serviceMonitor: { enabled: true },
      rules: { enabled: true },
      dashboard: { enabled: true },
    },
    ingress: {
      enabled: true,
      redirects: { hosts: ['go.example', 'my.example'], tlsSecret: 'go-tls' },
      annotations: { issuer: 'letsencrypt' },
      api: { hosts: ['api.example'], annotations: { 'body-size': '20m' } },
    },
  },
  'brokers with TLS and SASL, a private registry, and chosen nodes': {
    ...ORIGINS,
    kafka: {
      brokers: 'kafka-1:9092,kafka-2:9092',
      tls: true,
      caSecret: 'kafka-ca',
      saslMechanism: 'scram-sha-512',
      username: 'hoplog',
    },
    image: {
      pullSecrets: ['registry', 'mirror'],
      digest: 'sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
    },
    ingest: {
      nodeSelector: { disk: 'fast' },
      tolerations: [{ operator: 'Exists' }],
      priorityClassName: 'high',
      podAnnotations: { team: 'growth' },
    },
    workers: {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname' }],
        },
      },
    },
    migrate: { nodeSelector: { disk: 'fast' }, tolerations: [{ operator: 'Exists' }] },
    serviceAccountName: 'hoplog',
    settings: { LOG_LEVEL: 'debug' },
  },
  'secrets that another program writes': {
    ...EXTERNAL,
    secretKeys: {
      DATABASE_URL: true,
      DATABASE_PASSWORD: false,
      DATABASE_OWNER_URL: false,
      DATABASE_OWNER_PASSWORD: false,
      CLICKHOUSE_URL: true,
      CLICKHOUSE_PASSWORD: false,
    },
    settings: { DATABASE_PASSWORD_FILE: '/vault/secrets/database' },
    extraVolumes: [{ name: 'vault', csi: { driver: 'secrets-store.csi.k8s.io', readOnly: true } }],
    extraVolumeMounts: [{ name: 'vault', mountPath: '/vault/secrets', readOnly: true }],
    migrate: { podAnnotations: { 'vault.example/inject': 'true' } },
  },
  'a Gateway, certificates for domains of workspaces, and additions to pods': {
    ...EXTERNAL,
    trustProxy: '10.0.0.0/8',
    caSecret: 'authorities',
    extraEnv: [{ name: 'NODE_IP', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } }],
    commonLabels: { team: 'growth' },
    commonAnnotations: { cost: 'marketing' },
    ingest: {
      podLabels: { mesh: 'on' },
      service: {
        type: 'LoadBalancer',
        port: 80,
        loadBalancerClass: 'service.k8s.aws/nlb',
        loadBalancerSourceRanges: ['203.0.113.0/24'],
      },
      sidecars: [LOCKED_UP],
      initContainers: [LOCKED_UP],
    },
    domainProxy: {
      enabled: true,
      email: 'operator@shop.example',
      acmeDirectory: 'https://acme.example/directory',
      service: { loadBalancerClass: 'service.k8s.aws/nlb' },
    },
    gateway: {
      enabled: true,
      parentRefs: [{ name: 'public', namespace: 'gateways' }],
      redirects: { hosts: ['go.example'], annotations: { timeout: '5s' } },
      api: { hosts: ['api.example'] },
    },
    networkPolicy: { metricsFrom: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }] },
  },
  'brokers of Strimzi in three zones, for other applications too': {
    ...BUNDLED,
    kafka: { bundled: true, rackTopologyKey: 'topology.kubernetes.io/zone', topicOperator: true },
  },
  'two replicas of ClickHouse': {
    ...BUNDLED,
    clickhouse: {
      bundled: true,
      replicas: ['main', 'second'],
      images: { second: 'clickhouse/clickhouse-server:26.8' },
    },
  },
  'limited networks': {
    ...BUNDLED,
    networkPolicy: {
      visitorsFrom: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }],
      metricsFrom: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
      traces: { peers: [{ podSelector: { matchLabels: { app: 'collector' } } }], ports: [4318] },
      extraEgress: [{ ports: [{ port: 587 }] }],
    },
    settings: {
      OIDC_ISSUER: 'https://identity.example',
      OIDC_CLIENT_ID: 'hoplog',
      OIDC_ALLOWED_DOMAINS: 'shop.example',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:80',
      DNS_SERVERS: '127.0.0.1:5353',
    },
    ingest: { volume: { storageClass: 'fast' } },
    kafka: { bundled: true, volume: { storageClass: 'fast' } },
  },
} satisfies Record<string, Values>;
