import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RemovedFix } from './removed-fix.ts'
import { REMOVED_FIXES } from './removed-fixes.ts'

/** Takes each fix out in turn and runs its test, which must fail. FIX runs those whose finding starts with it. */

const folder = mkdtempSync(join(tmpdir(), 'market-fixes-'))

interface TestResult {
  readonly fullName: string
  readonly status: string
  readonly failureMessages: readonly string[]
}

interface Report {
  readonly testResults: readonly { readonly assertionResults: readonly TestResult[] }[]
}

/** How the tests with the title ended. */
function runWithout({ finding, test, title }: RemovedFix): TestResult[] {
  const file = join(folder, 'report.json')
  rmSync(file, { force: true })
  const escaped = title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const reporters = ['--reporter=json', `--outputFile.json=${file}`]
  spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', test, '-t', escaped, ...reporters], {
    env: { ...process.env, REMOVED_FIX: finding },
    stdio: 'ignore',
  })
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report
  return report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(
      ({ fullName, status }) => fullName.includes(title) && (status === 'passed' || status === 'failed'),
    )
}

/** How the first failed test failed, to see that it failed because of the missing fix. */
const reasonIn = ([message = '']: readonly string[]): string => message.split('\n', 1)[0]?.slice(0, 200) ?? ''

/** What was removed broke the source itself, so the test shows nothing. */
const isBroken = (reason: string): boolean => reason.startsWith('ReferenceError')

let unseen = 0
for (const fix of REMOVED_FIXES.filter(({ finding }) => finding.startsWith(process.env['FIX'] ?? ''))) {
  const ended = runWithout(fix)
  const failed = ended.find(({ status }) => status === 'failed')
  const reason = reasonIn(failed?.failureMessages ?? [])
  const isSeen = failed !== undefined && !isBroken(reason)
  if (!isSeen) unseen++
  const unseenAs =
    failed !== undefined ? 'BROKEN SOURCE' : ended.length === 0 ? 'DID NOT RUN' : 'STILL PASSES'
  process.stdout.write(
    `${isSeen ? 'fails without it' : unseenAs}  ${fix.finding}  (${fix.test})  ${reason}\n`,
  )
}
rmSync(folder, { recursive: true, force: true })
process.exitCode = unseen === 0 ? 0 : 1
