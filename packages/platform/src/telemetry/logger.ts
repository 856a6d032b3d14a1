import { type DestinationStream, type Logger, type LoggerOptions, pino, stdTimeFunctions } from 'pino'
import { redactLine } from './redact.ts'
import { stdoutBuffer } from './stdout-buffer.ts'

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
  return pino(options, settings.destination ?? stdoutBuffer())
}
