/** What a run says of one test file. `seconds` is how long it occupied its worker. */
export interface FileResult {
  readonly path: string
  readonly project: string
  readonly seconds: number
  readonly passed: number
  readonly skipped: number
  readonly failures: readonly string[]
}

export interface RunResult {
  readonly files: readonly FileResult[]
  /** Errors outside of any test, for instance in a global set-up. */
  readonly errors: number
  readonly isSharded: boolean
}

/**
 * A file that takes more than this share of all seconds keeps a worker busy after the others have finished: it is named. Only one
 * that is far above fails the run, since a busy machine alone makes a file half as long again.
 */
const LONG_SHARE = 0.02
const TOO_LONG_SHARE = 0.03
const SLOWEST_SHOWN = 20

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)
const inSeconds = (seconds: number): string => `${seconds.toFixed(1).padStart(7)} s`

/** Files above a share of all seconds without a reason. A shard runs too few files to judge. */
function longerThan(
  share: number,
  { files, isSharded }: RunResult,
  reasons: Readonly<Record<string, string>>,
): readonly FileResult[] {
  const limit = share * sum(files.map(({ seconds }) => seconds))
  return isSharded ? [] : files.filter(({ path, seconds }) => seconds > limit && !(path in reasons))
}

function secondsPerProject(files: readonly FileResult[]): string[] {
  const projects = Map.groupBy(files, ({ project }) => project)
  return [...projects]
    .map(([name, own]) => ({ name, count: own.length, seconds: sum(own.map(({ seconds }) => seconds)) }))
    .toSorted((a, b) => b.seconds - a.seconds)
    .map(({ name, count, seconds }) => `${inSeconds(seconds)}  ${name} (${count} files)`)
}

/** The text that ends a run, with the numbers of tests alone on its last line. */
export function summaryOf(run: RunResult, reasons: Readonly<Record<string, string>>) {
  const long = longerThan(LONG_SHARE, run, reasons)
  const tooLong = longerThan(TOO_LONG_SHARE, run, reasons)
  const failures = run.files.flatMap(({ path, failures: names }) => names.map((name) => `${path}: ${name}`))
  const passed = sum(run.files.map((file) => file.passed))
  const skipped = sum(run.files.map((file) => file.skipped))
  // A run that executed nothing has proven nothing.
  const failed = failures.length + run.errors + tooLong.length + (passed === 0 ? 1 : 0)
  const slowest = run.files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST_SHOWN)
  const lines = [
    `== worker seconds per project (${sum(run.files.map(({ seconds }) => seconds)).toFixed(0)} in all)`,
    ...secondsPerProject(run.files),
    '',
    '== slowest files',
    ...slowest.map(({ path, seconds }) => `${inSeconds(seconds)}  ${path}`),
    '',
    ...failures.map((failure) => `failed: ${failure}`),
    ...(run.errors > 0 ? [`failed: ${run.errors} errors outside of tests, see above`] : []),
    ...long.map(
      ({ path, seconds }) =>
        `${tooLong.some((file) => file.path === path) ? 'failed' : 'long'}: ${path} takes ${seconds.toFixed(1)} s, ` +
        `more than ${100 * LONG_SHARE} % of all worker seconds. ` +
        'Make it shorter, split it, or say in LONG_FILES of vitest.config.ts why it is long.',
    ),
    `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
  ]
  return { text: `${lines.join('\n')}\n`, isGood: failed === 0 }
}
