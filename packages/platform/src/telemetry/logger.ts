import { type DestinationStream, type Logger, type LoggerOptions, pino, stdTimeFunctions } from 'pino'
import { redactLine } from './redact.ts'

export type { Logger } from 'pino'

export interface LoggerSettings {
  readonly level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'
  /** Which program writes. */
  readonly name: string
  /** Standard output when left out. */
  readonly destination?: DestinationStream
}

/** One event, one line of JSON. Secrets are taken out of the finished line, so that no way around it exists. */
export function createLogger(settings: LoggerSettings): Logger {
  const options: LoggerOptions = {
    level: settings.level,
    base: { name: settings.name },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    hooks: { streamWrite: redactLine },
  }
  if (settings.destination !== undefined) return pino(options, settings.destination)
  const stdout = pino.destination({
    fd: 1,
    sync: false,
    minLength: BUFFER_BYTES,
    periodicFlush: FLUSH_INTERVAL_MS,
  })
  const logMethod: LogMethod = function (args, write, level) {
    write.apply(this, args)
    if (level >= PINO_WARN) stdout.flushSync()
  }
  return pino({ ...options, hooks: { ...options.hooks, logMethod } }, stdout)
}

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>

// Info lines are written in batches, because one write per request costs more than the line itself. A process that is
// killed loses the info lines of at most this interval; a warning is written at once, with everything before it.
const BUFFER_BYTES = 4_096
const FLUSH_INTERVAL_MS = 50
const PINO_WARN = 40
