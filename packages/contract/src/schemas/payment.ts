import { z } from 'zod'
import { named } from '../define.ts'
import { NetworkName, UsdText } from './money.ts'
import { text } from './text.ts'

/** Where and how much to pay, one per network. */
export const PaymentOption = z.object({
  network: NetworkName,
  asset: z.object({ currency: z.literal('USDC'), address: z.string() }),
  pay_to: z.string().describe('The address of the treasury'),
  amount: z.string().describe('In the asset’s smallest unit, 6 decimals'),
  amount_usd: UsdText,
})

/** How far the confirmation of a transfer is that is waited for. */
export const depthFields = {
  confirmations: z.int().nullable().describe('As of the last check; null while no block has it'),
  required: z.int().nullable().describe('null while it is unknown, and where the transfer must be final'),
}

/** What a wallet signs to pay, as x402 version 2 has it. */
const PaymentRequirement = named(
  'PaymentRequirement',
  z.object({
    scheme: z.literal('exact'),
    network: z.string().describe('CAIP-2, for example eip155:8453'),
    asset: z.string(),
    amount: z.string().describe('In the asset’s smallest unit'),
    payTo: z.string(),
    maxTimeoutSeconds: z.int().describe('How long after signing the payment may be executed'),
    extra: z
      .record(z.string(), z.unknown())
      .describe('EVM: `name` and `version` of the token’s EIP-712 domain. Solana: `feePayer`'),
  }),
)

/** The same for what can also be paid with a signature. */
export const SignablePaymentOption = PaymentOption.extend({
  requirement: PaymentRequirement.nullable().describe(
    'What a wallet signs for `signed_payment`; null where signed payments are not accepted',
  ),
})

const MAX_PAYMENT_LENGTH = 12_000

const fitsIn = (value: unknown): boolean => JSON.stringify(value).length <= MAX_PAYMENT_LENGTH

/** A payment of x402 version 2. Other fields that its clients add are ignored. */
export const SignedPayment = z
  .looseObject({
    x402Version: z.literal(2),
    accepted: z
      .looseObject({ network: text({ min: 1, max: 100 }).describe('`network` of the requirement') })
      .describe('The `requirement` that was signed for'),
    payload: z
      .record(z.string(), z.unknown())
      .describe(
        'EVM: `signature` and `authorization` (EIP-3009). Solana: `transaction`, partially signed, in base64',
      ),
  })
  .refine(fitsIn, `must have at most ${MAX_PAYMENT_LENGTH} characters of JSON`)
