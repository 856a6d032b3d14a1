import { type EvmFacilitatorSettings, openEvmFacilitator } from '@market/chains/evm/evm-facilitator'
import { localEvmSigner } from '@market/chains/local-signers'
import type { Facilitator, SignedPayment } from '@market/core/ports/facilitator'
import { usdc } from '@market/kernel/money'
import type { EvmNetwork } from '@market/testing/evm-network'
import { fundedPayer, newAccount, settingsFor } from '../chains/evm-world.ts'
import { signNow } from './sign-now.ts'
import { stockEvmPayload } from './stock-evm-buyer.ts'

export const PRICE = usdc(550_000n)

/** A treasury, a gas account, a buyer with 100 USDC and the facilitator. */
export const startEvmFacilitator = async (
  network: EvmNetwork,
  changes: Partial<EvmFacilitatorSettings> = {},
) => {
  const [treasury, gas] = [newAccount(), newAccount()]
  await network.fund(gas.address)
  const buyer = await fundedPayer(network, 100_000_000n)
  const settings: EvmFacilitatorSettings = {
    ...settingsFor(network, treasury.address),
    gasAccount: gas.address,
    gasAccounts: [gas.address],
    ...changes,
  }
  const facilitator = await openEvmFacilitator(settings, localEvmSigner(gas.key))
  const quote = { asset: network.usdc, payTo: treasury.address, amount: PRICE }
  return {
    treasury,
    gas,
    buyer,
    settings,
    facilitator,
    quote,
    pay: (who: Parameters<typeof stockEvmPayload>[0] = buyer) => stockEvmPayload(who, facilitator, quote),
  }
}

/** Settles like the application: rejects or signs, stores, then broadcasts the stored transaction. */
export const settle = async (facilitator: Facilitator, payment: SignedPayment) => {
  const rejected = await facilitator.rejectionReason(payment, PRICE)
  if (rejected !== undefined) throw new Error(rejected)
  const settlement = await signNow(facilitator, payment)
  await facilitator.send({ bytes: settlement.bytes })
  return settlement
}
