/** The manifests of deploy/kubernetes: valid by the published schemas, and the same as the settings where both say it. */
import { readFileSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../src/config/read.ts';
import { entries } from '../../src/config/settings.ts';
import { seriesOf, exposedMetrics } from '../../scripts/monitoring/exposed-metrics.ts';
import { compileProblems } from '../support/examples.ts';

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the schemas check the shape
  spec?: any;
  data?: Record<string, string>;
  stringData?: Record<string, string>;
}

const folder = 'deploy/kubernetes';
const read = (file: string) => parse(readFileSync(`${folder}/${file}`, 'utf8')) as Manifest;
const files = readdirSync(folder).filter((file) => file !== 'kustomization.yaml');
const manifests = files.map(read);
const ofKind = (kind: string) => manifests.find((manifest) => manifest.kind === kind)!;
const kustomization = parse(readFileSync(`${folder}/kustomization.yaml`, 'utf8')) as {
  resources: string[];
  images: { name: string; newTag: string }[];
};

const modelOf = ({ apiVersion, kind }: Pick<Manifest, 'apiVersion' | 'kind'>) =>
  `${apiVersion.startsWith('monitoring.') ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models'}/${apiVersion}/${kind}`;

/** What the API server would say: of values by the validators, of unknown fields by the types. */
async function problemsOf(checked: readonly Manifest[]): Promise<string[]> {
  const ofValues: string[] = [];
  for (const [at, manifest] of checked.entries()) {
    const module = (await import(modelOf(manifest))) as Record<string, new (data: object) => { validate(): void }>;
    try {
      new module[manifest.kind]!(manifest).validate();
    } catch (error) {
      ofValues.push(`example${at}.ts: ${(error as Error).message}`);
    }
  }
  const typed = checked.map(
    (manifest) =>
      `import type { I${manifest.kind} } from '${modelOf(manifest)}';\nexport const it: I${manifest.kind} = ${JSON.stringify(manifest)};`,
  );
  return [...ofValues, ...compileProblems('test/kubernetes', typed)];
}

const deployment = ofKind('Deployment');
const pod = deployment.spec.template.spec;
const [container] = pod.containers;
const dockerfile = readFileSync('Dockerfile', 'utf8');
const image = Object.fromEntries(
  [...dockerfile.matchAll(/^ENV (.*)$/gm)].flatMap(([, line]) => line!.split(' ').map((pair) => pair.split('=', 2))),
) as Record<string, string>;
const config = readConfig({ ...image, ...ofKind('ConfigMap').data });
const megabytes = (text: string) => Number(/^(\d+)Mi$/.exec(text)![1]);

test('every manifest is valid by the schemas of Kubernetes and of the Prometheus operator', async () => {
  expect(await problemsOf(manifests)).toEqual([]);
});

const planted: readonly [string, string, (manifest: Manifest) => void][] = [
  ['an unknown field of a container', 'Deployment', ({ spec }) => (spec.template.spec.containers[0].readyProbe = {})],
  ['a number that is a text', 'Deployment', ({ spec }) => (spec.template.spec.terminationGracePeriodSeconds = '18')],
  ['a selector that is a number', 'PodDisruptionBudget', ({ spec }) => (spec.selector = 3)],
  ['an unknown field of a metric', 'HorizontalPodAutoscaler', ({ spec }) => (spec.metrics[0].kind = 'Resource')],
  ['a misspelled field', 'ServiceMonitor', ({ spec }) => (spec.endpoints[0].intervall = '15s')],
];

test('each of these is found: an unknown or misspelled field, a value of another type', async () => {
  const wrong = planted.map(([, kind, plant]) => {
    const manifest = structuredClone(ofKind(kind));
    plant(manifest);
    return manifest;
  });
  const problems = await problemsOf(wrong);
  const found = wrong.map((_, at) => problems.some((problem) => problem.includes(`example${at}.ts`)));
  expect(planted.filter((_, at) => !found[at]).map(([what]) => what)).toEqual([]);
});

test('kustomize gets every manifest but the example of the Secret, and the image of this version', () => {
  expect(kustomization.resources.toSorted()).toEqual(files.filter((file) => !file.includes('example')).toSorted());
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  expect(kustomization.images).toMatchObject([{ name: container.image, newTag: version }]);
});

test('the environment is valid settings, and the files of secrets are in the Secret', () => {
  const known = new Set(['NODE_OPTIONS', ...entries().map(([, { env }]) => env)]);
  const given = container.env as { name: string; value: string }[];
  const names = [...Object.keys(ofKind('ConfigMap').data!), ...given.map(({ name }) => name)];
  expect(names.filter((name) => !known.has(name))).toEqual([]);
  expect(config).toMatchObject({ production: true, host: '0.0.0.0', ownOrigin: false });
  const mounted = Object.keys(ofKind('Secret').stringData!).map(
    (name) => `${container.volumeMounts[0].mountPath}/${name}`,
  );
  expect(given.flatMap(({ name, value }) => (name.endsWith('_FILE') ? [value] : []))).toEqual(mounted);
});

test('a pod has DRAIN_MS, SHUTDOWN_MS and 5 s to end, and readiness notices within DRAIN_MS', () => {
  expect(pod.terminationGracePeriodSeconds).toBe((config.drainMs + config.shutdownMs) / 1_000 + 5);
  const { periodSeconds, failureThreshold, timeoutSeconds } = container.readinessProbe;
  expect((periodSeconds * failureThreshold + timeoutSeconds) * 1_000).toBeLessThan(config.drainMs);
});

test('probes, Service, policy and monitor use the port of the settings and paths that the facade has', () => {
  expect(container.ports).toEqual([{ name: 'http', containerPort: config.port }]);
  const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe].map(
    ({ httpGet }) => httpGet,
  );
  expect(probes.map(({ path }) => path)).toEqual(['/health', '/health', '/ready']);
  const ports = [
    ...probes.map(({ port }) => port),
    ofKind('Service').spec.ports[0].targetPort,
    ofKind('NetworkPolicy').spec.ingress[0].ports[0].port,
    ofKind('ServiceMonitor').spec.endpoints[0].port,
    ofKind('Service').spec.ports[0].name,
  ];
  expect(new Set(ports)).toEqual(new Set(['http']));
});

test('the heap leaves room in the memory of the container for the young generation and 100 MB', () => {
  const limit = megabytes(container.resources.limits.memory);
  const old = Number(
    /--max-old-space-size=(\d+)/.exec(
      container.env.find(({ name }: { name: string }) => name === 'NODE_OPTIONS').value,
    )![1],
  );
  const semi = Number(/--max-semi-space-size=(\d+)/.exec(dockerfile)![1]);
  expect(old + 3 * semi + 100).toBeLessThanOrEqual(limit);
  expect(old).toBeGreaterThan(limit / 2);
});

test('a pod has no rights: no token, no root, nothing that it can write but /tmp', () => {
  expect(pod).toMatchObject({
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  });
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  const writable = container.volumeMounts.filter(({ readOnly }: { readOnly?: boolean }) => !readOnly);
  expect(writable).toEqual([{ name: 'tmp', mountPath: '/tmp' }]);
});

test('names may be asked of the servers of the cluster, and of the cache on each node', () => {
  const [names] = ofKind('NetworkPolicy').spec.egress;
  expect(names.ports).toEqual([
    { port: 53, protocol: 'UDP' },
    { port: 53, protocol: 'TCP' },
  ]);
  expect(names.to).toContainEqual({ ipBlock: { cidr: '169.254.20.10/32' } });
});

test('everything selects the pods of the Deployment, and the autoscaler scales it by a metric that it exposes', async () => {
  const { labels } = deployment.spec.template.metadata;
  const selectors = [
    deployment.spec.selector.matchLabels,
    ofKind('Service').spec.selector,
    ofKind('PodDisruptionBudget').spec.selector.matchLabels,
    ofKind('NetworkPolicy').spec.podSelector.matchLabels,
    pod.topologySpreadConstraints[0].labelSelector.matchLabels,
  ];
  for (const selector of selectors) expect(selector).toEqual(labels);
  expect(ofKind('ServiceMonitor').spec.selector.matchLabels).toEqual(ofKind('Service').metadata.labels);
  const { scaleTargetRef, metrics } = ofKind('HorizontalPodAutoscaler').spec;
  const { apiVersion, kind, metadata } = deployment;
  expect(scaleTargetRef).toEqual({ apiVersion, kind, name: metadata.name });
  const { metric, target } = metrics[1].pods;
  expect((await exposedMetrics()).flatMap(seriesOf)).toContain(metric.name);
  expect(Number(target.averageValue)).toBe(config.maxRunningOperations / 2);
});
