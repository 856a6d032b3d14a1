import { MarketError } from '@market/sdk'
import { nextCommand } from './error-hints.ts'
import { CommandError, UsageError } from './usage-error.ts'

/** What went wrong, and the command to try next. */
export function describeError(error: unknown) {
  if (error instanceof UsageError) return { code: 'usage', message: error.message, next: error.next }
  if (error instanceof CommandError) return { code: error.code, message: error.message, next: error.next }
  if (error instanceof MarketError) {
    const { code, status, message, requestId, details, retryAfterSeconds } = error
    return {
      code,
      status,
      message,
      next: nextCommand(code, status),
      request_id: requestId,
      details: details.length === 0 ? undefined : details,
      retry_after_seconds: retryAfterSeconds,
    }
  }
  const code = (error as { code?: unknown } | null)?.code
  const message = error instanceof Error ? error.message : String(error)
  return { code: typeof code === 'string' ? code : 'failed', message, next: undefined }
}
