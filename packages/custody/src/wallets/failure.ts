import { isToken } from '@market/core/ports/agent-wallets'
import { ApiError, type ErrorCode, type ErrorKind } from '@market/kernel/api-error'
import { coinsOf, textOf } from './amount.ts'
import type { Missing } from './funds.ts'
import type { WalletTransactionFailure, WalletTransactionId } from './operation.ts'

/** What the caller is told about an operation that failed, and does next. */
const FAILURES: Readonly<
  Record<
    WalletTransactionFailure,
    { readonly kind: ErrorKind; readonly code: ErrorCode; readonly message: string }
  >
> = {
  underfunded: {
    kind: 'payment_required',
    code: 'agent_wallet_underfunded',
    message:
      'The agent’s wallet cannot pay for this any more. Nothing was charged. Send SOL to the deposit address of GET /api/agents/{agent_id}/funding, and try again.',
  },
  cap_exceeded: {
    kind: 'conflict',
    code: 'wallet_cap_exceeded',
    message:
      'This is more than the wallet may send in 24 hours. Nothing was sent. Send less, or try again later.',
  },
  not_withdraw_address: {
    kind: 'conflict',
    code: 'no_withdraw_address',
    message:
      'The withdraw address is not in effect yet. Nothing was sent. Withdraw 24 hours after the owner set it.',
  },
  owner_not_verified: {
    kind: 'forbidden',
    code: 'owner_not_verified',
    message:
      'The signature of the owner wallet could not be verified. Nothing was sent or exported. Sign again with the owner wallet.',
  },
  bad_destination: {
    kind: 'invalid',
    code: 'bad_destination',
    message: 'This address cannot receive the transfer. Nothing was sent. Send to a wallet address.',
  },
  rejected_on_chain: {
    kind: 'conflict',
    code: 'rejected_on_chain',
    message:
      'Solana rejected the transaction, so it had no effect but its fee. Check the balance of the wallet, and try again.',
  },
  bad_metadata: {
    kind: 'conflict',
    code: 'bad_metadata',
    message: 'The request names a document of another site. Nothing was signed. Try again.',
  },
  bad_asset: {
    kind: 'invalid',
    code: 'bad_asset',
    message:
      'The wallet cannot send this token any more. Nothing was sent. Read GET /api/agents/{agent_id}/funding for what it can send.',
  },
  ended_by_operators: {
    kind: 'unavailable',
    code: 'wallets_unavailable',
    message: 'Two operators ended this operation, because the chain shows that it had no effect. Try again.',
  },
  expired: {
    kind: 'unavailable',
    code: 'wallets_unavailable',
    message: 'The transaction could not be sent in time, and had no effect. Try again.',
  },
}

export function failedError(id: WalletTransactionId, failure: WalletTransactionFailure): ApiError {
  const { kind, code, message } = FAILURES[failure]
  return new ApiError(kind, message, { code, fields: { operation_id: id } })
}

/** The wallet cannot pay for what is asked. Nothing was charged. */
export function underfunded({ asset, required, balance }: Missing, depositAddress: string): ApiError {
  if (asset !== 'SOL')
    return new ApiError(
      'conflict',
      `The wallet holds ${textOf(asset, balance)}, and ${textOf(asset, required)} is needed. Nothing was sent. Send less.`,
      { code: isToken(asset) ? 'insufficient_token' : 'insufficient_usdc' },
    )
  const data = {
    required_sol: coinsOf(asset, required),
    balance_sol: coinsOf(asset, balance),
    deposit_address: depositAddress,
  }
  return new ApiError(
    'payment_required',
    `The agent’s wallet holds ${data.balance_sol} SOL, and ${data.required_sol} SOL is required. Nothing was charged. Send SOL to ${depositAddress}, and try again.`,
    { code: 'agent_wallet_underfunded', fields: { data } },
  )
}
