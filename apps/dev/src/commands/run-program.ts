import { rmSync } from 'node:fs'
import { enableCompileCache, flushCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Halves the time of every start but the first.
enableCompileCache(fileURLToPath(new URL('../../../../.cache/compiled', import.meta.url)))

/**
 * Runs a program until standard input closes, then removes the run's folder. The pipe closes when `dev` ends
 * in any way, also by SIGKILL, so the program never outlives it.
 */
const [, , name, folder] = process.argv
process.stdin
  .once('close', () => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    // Not `process.exit`, because exit handlers of the program could delay it.
    process.kill(process.pid, 'SIGKILL')
  })
  .resume()
const PROGRAMS = {
  api: () => import('@market/api/main'),
  worker: () => import('@market/worker/main'),
  web: () => import('@market/web/main'),
  'web-live': () => import('@market/web/commands/live'),
}
await PROGRAMS[name as keyof typeof PROGRAMS]()
// A killed process does not write its compile cache, and the next start compiles everything again.
flushCompileCache()
