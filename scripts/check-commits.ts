import { execFileSync } from 'node:child_process'

const KINDS = ['feat', 'fix', 'perf', 'refactor', 'docs', 'test', 'build', 'ci', 'chore']
const SUBJECT = new RegExp(`^(?:${KINDS.join('|')})(?:\\([a-z0-9-]+\\))?!?: \\S.*[^.]$`)
const LONGEST_SUBJECT = 72
/** Their subject alone does not say why. */
const NEEDS_BODY = /^(?:feat|fix|perf|refactor)\b/

/** What is wrong with the message of a commit, one sentence each. A merge has the message of its tool. */
export function commitProblems(message: string): string[] {
  const [subject = '', blank, ...body] = message.trimEnd().split('\n')
  if (/^(?:Merge |merge: )/.test(subject)) return []
  const problems: string[] = []
  if (!SUBJECT.test(subject))
    problems.push(
      `"${subject}" is not like "fix(payments): refund the surplus", with one of ${KINDS.join(', ')}.`,
    )
  if (subject.length > LONGEST_SUBJECT)
    problems.push(`"${subject}" has ${subject.length} characters, and a subject at most ${LONGEST_SUBJECT}.`)
  if (blank !== undefined && blank !== '') problems.push(`"${subject}" needs an empty line after it.`)
  if (NEEDS_BODY.test(subject) && body.join('').trim() === '')
    problems.push(`"${subject}" needs a body that says why.`)
  return problems
}

/** `node scripts/check-commits.ts origin/main..HEAD` */
if (import.meta.main) {
  const [range = 'HEAD~1..HEAD'] = process.argv.slice(2)
  const log = execFileSync('git', ['log', '--no-merges', '--format=%B%x00', range], { encoding: 'utf8' })
  const problems = log
    .split('\0\n')
    .filter((message) => message.trim() !== '')
    .flatMap(commitProblems)
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  process.exitCode = problems.length === 0 ? 0 : 1
}
