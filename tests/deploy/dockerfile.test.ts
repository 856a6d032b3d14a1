import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { environmentOf, isInContext, parseDockerfile, textsOf, wordsOf } from './dockerfile.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

const text = read('deploy/Dockerfile')
const stages = parseDockerfile(text)
const [build] = stages
const final = stages.at(-1)

test('Dockerfile: every base is the Node of package.json at an exact version', () => {
  const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> }
  const [major] = (devDependencies['node'] ?? '').replace('^', '').split('.')
  expect(stages).toHaveLength(2)
  for (const { base } of stages) expect(base).toMatch(new RegExp(`^node:${major}\\.\\d+\\.\\d+-[a-z]+-slim$`))
  expect(new Set(stages.map(({ base }) => base)).size).toBe(1)
})

test('Dockerfile: the final stage takes only dist, runs as another user than root and checks its health', () => {
  expect(textsOf(final, 'COPY')).toEqual(['--from=build /build/dist ./dist'])
  expect(textsOf(final, 'USER')).toEqual(['node'])
  expect(final?.instructions.map(({ name }) => name).indexOf('USER')).toBeGreaterThan(
    final?.instructions.map(({ name }) => name).lastIndexOf('RUN') ?? Number.POSITIVE_INFINITY,
  )
  expect(wordsOf(textsOf(final, 'HEALTHCHECK')[0] ?? '')[0]).toBe('node')
  expect(wordsOf(textsOf(final, 'ENTRYPOINT')[0] ?? '')).toEqual(['node'])
  expect(wordsOf(textsOf(final, 'CMD')[0] ?? '')).toEqual(['dist/bin/api.mjs'])
  expect(environmentOf(final)).toEqual({ NODE_ENV: 'production', HOST: '0.0.0.0', PORT: '3000' })
})

test('Dockerfile: it downloads nothing besides the locked packages, and contains no secret', () => {
  expect(textsOf(build, 'RUN')[0]).toBe('npm ci --ignore-scripts')
  for (const stage of stages) {
    expect(textsOf(stage, 'ADD')).toEqual([])
    expect(textsOf(stage, 'ARG')).toEqual(stage === build ? ['BUILD_FLAGS='] : [])
    for (const command of textsOf(stage, 'RUN')) expect(command).not.toMatch(/curl|wget|apt|sudo|chmod 777/)
  }
  expect(text).not.toMatch(/:latest|_KEYS?=|PASSWORD|SECRET|TOKEN/)
})

test('.dockerignore: the context has what the build reads, and no tests, environments or results of builds', () => {
  const ignore = read('.dockerignore')
  const inside = [
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'apps/web/vite.config.ts',
    '.npmrc',
    'apps/api/src/main.ts',
    'scripts/build.ts',
    'docs/contract/README.md',
  ]
  const outside = [
    ...[
      '.git/config',
      'deploy/api.env',
      'apps/api/api.env',
      'node_modules/zod/package.json',
      'dist/bin/api.mjs',
    ],
    ...[
      'packages/sdk/node_modules/x/index.js',
      'tests/deploy/image.test.ts',
      'packages/kernel/src/money.test.ts',
    ],
    ...['.env', 'docs/glossary.md'],
  ]
  expect(inside.filter((file) => !isInContext(ignore, file))).toEqual([])
  expect(outside.filter((file) => isInContext(ignore, file))).toEqual([])
})
