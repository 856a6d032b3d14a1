import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { writeDist } from '../../scripts/pack.ts'

/** Runs the code samples of the API reference as a user does: in a project that has installed the SDK. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PYTHON = fileURLToPath(new URL('python/run_samples.py', import.meta.url))
const run = promisify(execFile)

/** The programs in each language run in one process. They write the error of a program to a file beside it. */
const RUN_TYPESCRIPT = `
import { writeFileSync } from 'node:fs'
for (const file of process.argv.slice(2))
  await import(\`./\${file}\`).catch((error) => writeFileSync(\`\${file}.error\`, String(error.stack)))
`
const RUN_SHELL = `
for file; do
  bash -eu "$file" >/dev/null 2>"$file.output" || mv "$file.output" "$file.error"
done
`

/** What users install beside the SDK. */
const INSTALLED = ['@types', '@x402', 'viem']

/** The file that the samples upload. */
export const LOGO = 'the bytes of a logo'

const TSCONFIG = {
  compilerOptions: {
    ...{ target: 'es2022', lib: ['es2022'], types: ['node'], module: 'nodenext' },
    ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: true, noEmit: true },
  },
  include: ['*.ts'],
}

export interface Program {
  /** Its extension says the language: sh, ts or py. */
  readonly file: string
  readonly source: string
  /** Has mistakes that the compiler must find, so it is not run. */
  readonly isWrong?: true
}

export interface Result {
  /** Why the program failed. */
  readonly error: string | undefined
  readonly typeErrors: readonly string[]
}

/** Runs all programs with the environment `env`, and checks the types of those in TypeScript. */
export async function runSamples(
  programs: readonly Program[],
  env: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, Result>> {
  const folder = mkdtempSync(join(tmpdir(), 'samples-'))
  const filesIn = (language: string) =>
    programs.filter(({ file, isWrong }) => file.endsWith(language) && !isWrong).map(({ file }) => file)
  const start = (program: string, ...args: string[]) =>
    run(program, args, { cwd: folder, env: { PATH: process.env['PATH'], ...env } })
  try {
    writeProject(folder)
    for (const { file, source } of programs) writeFileSync(join(folder, file), source)
    const [types] = await Promise.all([
      installSdk(folder).then(async () => {
        const [checked] = await Promise.all([
          typeErrorsIn(folder),
          start(process.execPath, 'run.mjs', ...filesIn('.ts')),
        ])
        return checked
      }),
      start('bash', 'run.bash', ...filesIn('.sh')),
      start('python3', '-B', PYTHON, ...filesIn('.py')),
    ])
    return new Map(
      programs.map(({ file }) => [file, { error: errorOf(join(folder, file)), typeErrors: types(file) }]),
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function writeProject(folder: string): void {
  const files = {
    'package.json': '{"private":true,"type":"module"}',
    'tsconfig.json': JSON.stringify(TSCONFIG),
    'run.mjs': RUN_TYPESCRIPT,
    'run.bash': RUN_SHELL,
    'logo.png': LOGO,
  }
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
  mkdirSync(join(folder, 'node_modules'))
  for (const name of INSTALLED)
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
}

/** The files of the package, without the time that `npm install` takes. */
async function installSdk(folder: string): Promise<void> {
  const sdk = join(folder, 'node_modules/@market/sdk')
  await writeDist('sdk', join(sdk, 'dist'))
  const exports = { '.': { types: './dist/index.d.ts', default: './dist/index.mjs' } }
  writeFileSync(join(sdk, 'package.json'), JSON.stringify({ name: '@market/sdk', type: 'module', exports }))
}

/** The errors of the compiler, by file. An error elsewhere counts for every file. */
async function typeErrorsIn(folder: string): Promise<(file: string) => string[]> {
  const compiled = run(join(ROOT, 'node_modules/.bin/tsc'), ['--project', folder, '--pretty', 'false'], {
    cwd: folder,
  })
  const { stdout } = await compiled.catch((error: { stdout: string }) => error)
  const lines = stdout.split('\n').filter((line) => line.includes(': error TS'))
  return (file) => lines.filter((line) => line.startsWith(`${file}(`) || !/^[\w-]+\.ts\(/.test(line))
}

const errorOf = (path: string): string | undefined =>
  existsSync(`${path}.error`) ? readFileSync(`${path}.error`, 'utf8') : undefined
