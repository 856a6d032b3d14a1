const INVALID_STATEMENT_NAME = '26000'
const DUPLICATE_STATEMENT = '42P05'
const FEATURE_NOT_SUPPORTED = '0A000'

/**
 * Whether a prepared statement failed because of its name or its stored plan: a pooler sent it to a connection that
 * does not have it or already has it; or a migration changed the columns that it returns.
 */
export function isLostStatement(error: unknown): error is Error {
  if (!(error instanceof Error) || !('code' in error)) return false
  if (error.code === INVALID_STATEMENT_NAME || error.code === DUPLICATE_STATEMENT) return true
  return error.code === FEATURE_NOT_SUPPORTED && error.message.startsWith('cached plan')
}
