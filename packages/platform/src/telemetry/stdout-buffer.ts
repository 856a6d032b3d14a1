import { writeSync } from 'node:fs'
import { type DestinationStream, symbols } from 'pino'

const STDOUT = 1
const FLUSH_BYTES = 4_096
const FLUSH_INTERVAL_MS = 50
/** A reader that does not keep up loses lines, instead of filling the memory of the process. */
const MAX_BYTES = 1_048_576
const WARN_LEVEL = 40
const DROPPED =
  '\n{"level":"error","msg":"log lines were dropped: the reader is too slow, or the disk is full"}\n'
const EXIT_WAIT_MS = 1_000
const RETRY_MS = 10

/**
 * Writes log lines to standard output in batches, because one write per request costs more than the line itself. A
 * killed process loses the info lines of at most 50 ms; a warning is written at once, with everything before it.
 *
 * Pino's own destination is not used: its `flushSync` repeats a failed write for ever, so that a warning would stop a
 * process whose log reader has ended.
 */
export function stdoutBuffer(): DestinationStream {
  // Node makes a pipe or socket non-blocking when this is first read. A write to a full one then fails with EAGAIN
  // instead of stopping the process.
  void process.stdout
  let pending = Buffer.alloc(0)
  let lines: string[] = []
  let length = 0
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    pending = Buffer.concat([pending, Buffer.from(lines.join(''))])
    lines = []
    length = 0
    try {
      while (pending.length > 0) pending = pending.subarray(writeSync(STDOUT, pending))
    } catch (error) {
      onWriteError(error as NodeJS.ErrnoException)
    }
  }

  function onWriteError({ code }: NodeJS.ErrnoException): void {
    if (code === 'EPIPE' || code === 'EBADF') {
      // The log reader has ended. The process and its requests continue.
      isClosed = true
      pending = Buffer.alloc(0)
      return
    }
    // The reader is slow. A full disk, or a buffer that grew too long, costs these lines but none of those to come.
    if (code !== 'EAGAIN' || pending.length >= MAX_BYTES) pending = Buffer.from(DROPPED)
    flushLater()
  }

  function flushLater(): void {
    timer ??= setTimeout(flush, FLUSH_INTERVAL_MS).unref()
  }

  /** Called before the process ends. Waits for a slow reader, with a limit. */
  function flushAtExit(): void {
    flush()
    for (let waited = 0; pending.length > 0 && waited < EXIT_WAIT_MS; waited += RETRY_MS) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS)
      flush()
    }
  }

  process.once('exit', flushAtExit)
  const destination = {
    // Pino then sets `lastLevel` before each write.
    [symbols.needsMetadataGsym]: true,
    lastLevel: 0,
    write(line: string): void {
      if (isClosed) return
      lines.push(line)
      length += line.length
      if (destination.lastLevel >= WARN_LEVEL || length >= FLUSH_BYTES) flush()
      else flushLater()
    },
  }
  return destination
}
