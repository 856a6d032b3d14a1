import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { CHILD_ENVIRONMENT } from './child-environment.ts'

const HOUSES = ['apps/api/src/house.ts', 'apps/worker/src/house.ts']

/** Compiles both programs into the cache once: the processes that tests kill never get to write it. */
export default async function warmStart(): Promise<void> {
  const load = HOUSES.map(
    (path) => `await import(${JSON.stringify(new URL(`../../${path}`, import.meta.url))})`,
  )
  const script = `${load.join(';')};process.exit(0)`
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    env: CHILD_ENVIRONMENT,
  })
}
