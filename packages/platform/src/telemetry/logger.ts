import { type DestinationStream, type Logger, type LoggerOptions, pino, stdTimeFunctions } from 'pino'
import { redactLine } from './redact.ts'
import { stdoutBuffer } from './stdout-buffer.ts'

export type { Logger } from 'pino'

export interface LoggerSettings {
  readonly level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'
  /** The name of the process. */
  readonly name: string
  /** Default: standard output. */
  readonly destination?: DestinationStream
}

/** Writes one line of JSON per event. Secrets are removed from the finished line, so that no log call can bypass it. */
export function createLogger(settings: LoggerSettings): Logger {
  const options: LoggerOptions = {
    level: settings.level,
    base: { name: settings.name },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    hooks: { streamWrite: redactLine },
  }
  return pino(options, settings.destination ?? stdoutBuffer())
}
