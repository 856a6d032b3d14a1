import { z } from 'zod'
import { operation } from '../define.ts'
import { TRANSFER_CODES } from '../operation-errors.ts'
import {
  depositFields,
  EarnDeposit,
  EarnHistory,
  EarnMarkets,
  EarnPool,
  EarnPosition,
  EarnWithdrawal,
  hasOneOf,
  withdrawFields,
} from '../schemas/earn.ts'

export const listEarnMarkets = operation({
  id: 'listEarnMarkets',
  group: 'Earn',
  position: 10,
  method: 'GET',
  path: '/api/earn/pool/markets',
  summary: 'List the markets of Earn',
  description:
    'Venues that take USDC and earn with it, with their rates and where to send a deposit. `risk` says what can happen to the money.',
  callers: ['anonymous'],
  limit: 'earn.markets',
  cacheSeconds: 1,
  input: z.strictObject({}),
  output: EarnMarkets,
  errors: { 503: ['earn_unavailable'] },
})

export const listEarnPools = operation({
  id: 'listEarnPools',
  group: 'Earn',
  position: 50,
  method: 'GET',
  path: '/api/earn/pool/pools',
  summary: 'List the pools of Earn',
  description: 'Each market has one pool, of which depositors hold shares.',
  callers: ['anonymous'],
  limit: 'earn.pools',
  cacheSeconds: 1,
  input: z.strictObject({}),
  output: z.array(EarnPool),
  errors: { 503: ['earn_unavailable'] },
})

export const listEarnPositions = operation({
  id: 'listEarnPositions',
  group: 'Earn',
  position: 30,
  method: 'GET',
  path: '/api/earn/pool/positions',
  summary: 'List your positions',
  description:
    'Your shares and what they are worth, and beside them your deposits and withdrawals. An owner also sees those of their agents.',
  callers: ['wallet', 'user', 'agent'],
  limit: 'read',
  input: z.strictObject({}),
  output: z.array(EarnPosition),
  beside: EarnHistory,
})

export const depositToEarn = operation({
  id: 'depositToEarn',
  group: 'Earn',
  position: 20,
  method: 'POST',
  path: '/api/earn/pool/deposit',
  summary: 'Register a deposit',
  description:
    'Send USDC to `treasury_wallet` of the market first, from a wallet of yours. Shares follow when the venue has the money. 202 while the transfer is not confirmed. What the venue does not take is refunded to the sender. You can lose money: read `risk`.',
  callers: ['wallet', 'user', 'agent'],
  limit: 'write',
  input: z.strictObject(depositFields),
  output: EarnDeposit,
  status: 201,
  laterStatus: 202,
  errors: {
    400: ['below_first_minimum', 'loses_too_much', ...TRANSFER_CODES],
    404: ['pool_not_found'],
    409: ['not_depositable', 'pool_paused', 'too_many_waiting', 'transfer_used'],
    503: ['earn_unavailable'],
  },
  purpose: 'earn.deposit:{incoming_tx_hash}',
  cosigned: true,
  stoppedBy: ['freeze_intake'],
})

export const withdrawFromEarn = operation({
  id: 'withdrawFromEarn',
  group: 'Earn',
  position: 40,
  method: 'POST',
  path: '/api/earn/pool/withdraw',
  summary: 'Withdraw from a pool',
  description:
    'Takes shares from your position and pays what the vault pays for them to a wallet that paid one of your deposits. Until then they gain and lose like all others. `queued` when free liquidity is short: all that wait are paid the same fraction as it arrives. 202 when it is not decided after 10 seconds: list your positions for its result.',
  callers: ['wallet', 'user', 'agent'],
  limit: 'write',
  input: z
    .strictObject(withdrawFields)
    .refine(hasOneOf, { error: 'must be sent, or all: true, but not both', path: ['shares'] }),
  output: EarnWithdrawal,
  laterStatus: 202,
  errors: {
    400: ['below_minimum'],
    403: ['wrong_destination'],
    404: ['pool_not_found'],
    409: ['insufficient_shares'],
    503: ['earn_unavailable'],
  },
  purpose: 'earn.withdraw:{key}:{shares}:{destination_wallet}',
})
