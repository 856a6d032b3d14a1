import { rmSync } from 'node:fs'
import { enableCompileCache, flushCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Halves the time of every start but the first.
enableCompileCache(fileURLToPath(new URL('../../../../.cache/compiled', import.meta.url)))

/**
 * A program, for as long as standard input is open: the pipe closes however `dev` ends, even by SIGKILL, so the program
 * never outlives it. The run's folder, given as argument, goes with it.
 */
const [, , name, folder] = process.argv
process.stdin
  .once('close', () => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    // Not `process.exit`: nothing that the program does at its end may delay it.
    process.kill(process.pid, 'SIGKILL')
  })
  .resume()
await (name === 'worker' ? import('@market/worker/main') : import('@market/api/main'))
// A killed process does not write its compile cache, and the next start compiles everything again.
flushCompileCache()
