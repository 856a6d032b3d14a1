import type { SwapVenue } from '@market/core/ports/swaps'
import { ApiError } from '@market/kernel/api-error'
import { z } from 'zod'
import { requestJson } from '../fetch-json.ts'

interface SwapVenueSettings {
  /** Serves `/order` and `/execute`. */
  readonly url: string
  readonly apiKey?: string | undefined
  /** The mint of USDC. */
  readonly usdc: string
  readonly orderTimeoutMs: number
  readonly executeTimeoutMs: number
  /** Called when a submission fails: its status is read from the chain, so no response shows the failure. */
  readonly onFailedSubmission?: (error: unknown) => void
}

/** Venues name native SOL by this mint. */
const SOL_MINT = 'So11111111111111111111111111111111111111112'

const Order = z.object({
  requestId: z.string().regex(/^[\x21-\x7e]{1,200}$/),
  /** Absent when the venue has a price and no transaction, for example because the wallet holds too little. */
  transaction: z.string().max(2_000).nullish(),
  outAmount: z.string().regex(/^[1-9]\d{0,17}$/),
})

const Execution = z.object({ status: z.enum(['Success', 'Failed']) })

/** The venue rejects this swap. Other errors concern the venue, or our account there. */
const NOT_OFFERED = new Set([400, 404, 409, 422])

const noVenue = (cause: unknown): ApiError => {
  const error = new ApiError('unavailable', 'The swap venue does not respond. Try again in a moment.', {
    code: 'swap_unavailable',
    retryAfterSeconds: 2,
  })
  error.cause = cause
  return error
}

async function orUnavailable<T>(ask: () => Promise<T>, onFailure?: (error: unknown) => void): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    onFailure?.(error)
    throw noVenue(error)
  }
}

/** A venue with the requests and responses of Jupiter's Ultra API. */
export function httpSwapVenue(settings: SwapVenueSettings): SwapVenue {
  const { url, apiKey, usdc, orderTimeoutMs, executeTimeoutMs, onFailedSubmission } = settings
  const headers: Record<string, string> = apiKey === undefined ? {} : { 'x-api-key': apiKey }
  return {
    order: ({ taker, amount, slippageBps }) =>
      orUnavailable(async () => {
        const address = new URL(`${url}/order`)
        address.search = new URLSearchParams({
          inputMint: usdc,
          outputMint: SOL_MINT,
          amount: amount.toString(),
          taker,
          slippageBps: String(slippageBps),
        }).toString()
        const { status, body } = await requestJson(address, { timeoutMs: orderTimeoutMs }, { headers })
        if (NOT_OFFERED.has(status)) return undefined
        if (status !== 200) throw new Error(`the swap venue responded with ${status}`)
        const { requestId, transaction, outAmount } = Order.parse(body)
        if (!transaction) return undefined
        return { requestId, transaction, outLamports: BigInt(outAmount) }
      }),

    execute: (submission) =>
      orUnavailable(async () => {
        const address = new URL(`${url}/execute`)
        const limits = { timeoutMs: executeTimeoutMs }
        const { status, body } = await requestJson(address, limits, { headers, body: submission })
        if (status !== 200) throw new Error(`the swap venue responded with ${status}`)
        return Execution.parse(body).status === 'Success' ? 'success' : 'failed'
      }, onFailedSubmission),
  }
}
