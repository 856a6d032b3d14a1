import { accessSync, constants, globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { commitProblems } from '../../scripts/check-commits.ts'
import { releaseChanges, releaseNotes } from '../../scripts/release.ts'
import { SECTIONS } from '../gauntlet/sections.ts'

/** What runs elsewhere: the workflows, and what a release changes. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const read = (file: string) => readFileSync(ROOT + file, 'utf8')
const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> }

const WORKFLOWS = globSync('.github/workflows/*.yml', { cwd: ROOT }).sort()

interface Step {
  readonly run?: string
  readonly uses?: string
}

async function readWorkflow(file: string) {
  const content = read(file)
  const { context, value } = parseWorkflow({ name: file, content }, new NoOperationTraceWriter())
  const template = value && (await convertWorkflowTemplate(context, value))
  const { jobs } = parse(content) as {
    readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>
  }
  const steps = Object.values(jobs).flatMap((job) => job.steps)
  return {
    errors: [
      ...context.errors.getErrors().map(({ message }) => message),
      ...(template?.errors ?? []).map(({ Message }) => Message),
    ],
    runs: steps.flatMap(({ run }) => run ?? []),
    uses: steps.flatMap(({ uses }) => uses ?? []),
  }
}

/** Programs of the machines there. What they run of ours is checked by itself. */
const KNOWN = /^(?:npm ci|apt-get install|docker (?:compose|build|run)|tar czf|gh release create)\b/

/** Why a command cannot run; undefined when everything of ours that it names exists. */
function problemOf(command: string): string | undefined {
  const [, script] = /^npm run ([\w:-]+)/.exec(command) ?? []
  const [, program] = /^((?:\.ci|\.github)\/\S+)/.exec(command) ?? []
  const files = [...command.matchAll(/(?:^node |-f )(\S+)/g)].map(([, file = '']) => file)
  if (script !== undefined && scripts[script] === undefined) return `no script ${script}`
  if (script === undefined && program === undefined && files.length === 0 && !KNOWN.test(command))
    return 'unknown'
  for (const file of [...files, ...(program === undefined ? [] : [program])]) {
    try {
      accessSync(ROOT + file, file === program ? constants.X_OK : constants.R_OK)
    } catch {
      return `no ${file}`
    }
  }
  return undefined
}

test('problemOf: finds a script, a program and a file that do not exist, and a command that nobody knows', () => {
  expect(problemOf('npm run no-such-script')).toBe('no script no-such-script')
  expect(problemOf('.ci/no-such-program')).toBe('no .ci/no-such-program')
  expect(problemOf('node scripts/no-such-file.ts')).toBe('no scripts/no-such-file.ts')
  expect(problemOf('docker build -f deploy/No .')).toBe('no deploy/No')
  expect(problemOf('make everything')).toBe('unknown')
})

test.each(WORKFLOWS)('%s: is a valid workflow, and every command in it exists', async (file) => {
  const { errors, runs, uses } = await readWorkflow(file)
  expect(errors).toEqual([])
  const commands = runs.flatMap((run) => run.split('\n')).filter((line) => line.trim() !== '')
  expect(commands.length).toBeGreaterThan(0)
  expect(commands.map((command) => [command, problemOf(command)])).toEqual(
    commands.map((one) => [one, undefined]),
  )
  expect(uses.filter((one) => !/^(?:actions|docker)\/[\w-]+@v\d+$/.test(one))).toEqual([])
})

test('a workflow that is not valid has errors', () => {
  const content = 'on: push\njobs:\n  one:\n    runs-on: ubuntu-24.04\n    stepz: []\n'
  const { context } = parseWorkflow({ name: 'x.yml', content }, new NoOperationTraceWriter())
  expect(context.errors.count).toBeGreaterThan(0)
})

test('nightly: runs every section of the gauntlet', () => {
  const [, listed = ''] = /section:\n((?: +- \S+\n)+)/.exec(read('.github/workflows/nightly.yml')) ?? []
  expect(listed.match(/[\w-]+(?=\n)/g)).toEqual(SECTIONS.map(({ name }) => name))
})

const FILES = globSync(['package.json', '{packages,apps,tools}/*/package.json'], { cwd: ROOT }).sort()

test('release: sets the version of every package, of the SDK, of the image and of the changelog, and nothing else', () => {
  const changes = releaseChanges(ROOT, [...FILES, 'README.md'], '9.8.7', '2026-01-02')
  for (const { file, from, to } of changes) {
    expect([file, to]).not.toEqual([file, from])
    const before = new Set(from.split('\n'))
    const added = to.split('\n').filter((line) => line !== '' && !before.has(line))
    expect([file, added.filter((line) => !line.includes('9.8.7'))]).toEqual([file, []])
  }
  expect(changes.map(({ file }) => file)).toEqual([
    ...FILES,
    ...['package-lock.json', 'packages/sdk/src/version.ts', 'deploy/compose.yaml', 'CHANGELOG.md'],
  ])
})

test('release: every package has one licence', () => {
  for (const file of FILES) expect([file, JSON.parse(read(file)).license]).toEqual([file, 'Apache-2.0'])
})

test('releaseNotes: the section of the version alone', () => {
  const changelog =
    '# Changelog\n\n## Unreleased\n\n- c\n\n## 0.2.0 (2026-01-02)\n\n### Added\n\n- b\n\n## 0.1.0 (2026-01-01)\n\n- a\n'
  expect(releaseNotes(changelog, '0.2.0')).toBe('### Added\n\n- b\n')
  expect(releaseNotes(changelog, '0.1.0')).toBe('- a\n')
  expect(() => releaseNotes(changelog, '0.3.0')).toThrow('no section 0.3.0')
})

test.each([
  ['fix(payments): refund the surplus\n\nIt stayed in escrow.\n', []],
  ['test: name the condition\n', []],
  ['Merge branch x\n', []],
  ['fix(payments): refund the surplus\n', ['needs a body']],
  ['fix(payments): refund the surplus\nIt stayed.\n', ['needs an empty line', 'needs a body']],
  ['Refund the surplus\n', ['is not like']],
  ['docs: end with a full stop.\n', ['is not like']],
  [`docs: ${'x'.repeat(70)}\n`, ['has 76 characters']],
])('commitProblems: %j', (message, problems) => {
  const found = commitProblems(message)
  expect(found).toHaveLength(problems.length)
  for (const [n, problem] of problems.entries()) expect(found[n]).toContain(problem)
})
