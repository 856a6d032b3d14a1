import { MarketError } from '@market/sdk'
import { nextCommand } from './error-hints.ts'
import { CommandError, UsageError } from './usage-error.ts'

/** Messages of the SDK name its options; the user has those of this program. */
const inOptions = (message: string): string =>
  message
    .replace(/\bmaxUsd\b/g, '--max-usd')
    .replace(/\bapiUrl\b/g, 'the API URL')
    .replace(/Call hire again with idempotencyKey/, 'Repeat the command with --idempotency-key')
    .replace(/Pass network and a payer of it/, 'Pass --network and a wallet of it')
    .replace(/Check the API URL, and set site .*/, 'Use the public URL of the API.')

/** What went wrong, and the command to try next. */
export function describeError(error: unknown) {
  if (error instanceof UsageError) return { code: 'usage', message: error.message, next: error.next }
  if (error instanceof CommandError) return { code: error.code, message: error.message, next: error.next }
  if (error instanceof MarketError) {
    const { code, status, message, requestId, details, retryAfterSeconds } = error
    return {
      code,
      status,
      message: inOptions(message),
      next: nextCommand(code, status),
      request_id: requestId,
      details: details.length === 0 ? undefined : details,
      retry_after_seconds: retryAfterSeconds,
    }
  }
  const code = (error as { code?: unknown } | null)?.code
  const message = error instanceof Error ? error.message : String(error)
  return { code: typeof code === 'string' ? code : 'failed', message: inOptions(message), next: undefined }
}
