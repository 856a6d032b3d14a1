import type { SignedTransfer } from '@market/core/ports/payout-sender'
import type { EvmKeySigner } from '@market/core/ports/signer'
import type { VenueCall } from '@market/core/ports/venue'
import { unavailable } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { larger } from '../../bigints.ts'
import type { Node, NodePool } from '../../nodes/node-pool.ts'
import { isContractFailure } from '../contract-failure.ts'
import { nextFees, readFees } from '../fees.ts'
import { withActionId } from '../nonce-rail.ts'
import { quantity } from '../parse-rpc.ts'
import { callEach, resultOf } from '../rpc.ts'
import { signCall } from '../sign-call.ts'
import { approve, type CallRequest, deposit, redeem, transfer, type Vault } from './vault-calls.ts'

const MIN_GAS = 100_000n
/** Above this the estimate is taken for a fault of the node. A vault that serves several markets needs about 2 000 000. */
const MAX_GAS = 10_000_000n
/** Of a call that would revert now: the approval may not be mined yet, and otherwise it fails visibly. */
const GAS_WITHOUT_ESTIMATE = 3_000_000n
/** What a vault does depends on its state when the transaction is executed. Gas that is not used is not charged. */
const MARGIN_PERCENT = 150n

const estimateGas = async (node: Node, chainId: number, call: CallRequest): Promise<bigint> => {
  const [response] = await callEach(node, chainId, [['eth_estimateGas', call]])
  if (response !== undefined && 'error' in response && isContractFailure(response.error))
    return GAS_WITHOUT_ESTIMATE
  const needed = (quantity(resultOf(response)) * MARGIN_PERCENT) / 100n
  if (needed > MAX_GAS) throw unavailable(`The call needs ${needed} gas. The maximum is ${MAX_GAS}.`)
  return larger(MIN_GAS, needed)
}

const callOf = (vault: Vault, call: VenueCall): CallRequest => {
  const request = stepOf(vault, call)
  return { ...request, data: withActionId(request.data, call.actionId) }
}

const stepOf = (vault: Vault, { step, amount }: VenueCall): CallRequest => {
  assert(amount > 0n, 'the amount of a step is positive')
  switch (step) {
    case 'approve':
      return approve(vault, amount)
    case 'deposit':
      return deposit(vault, amount)
    case 'redeem':
      return redeem(vault, amount)
    case 'return':
      return transfer(vault, vault.wallet, vault.treasury, amount)
  }
}

interface StepToSign {
  readonly call: VenueCall
  readonly nonce: bigint
  readonly previous: readonly SignedTransfer[]
  readonly feeCapPerGas: bigint
}

export const signStep = async (
  vault: Vault,
  nodes: NodePool,
  signer: EvmKeySigner,
  { call, nonce, previous, feeCapPerGas }: StepToSign,
): Promise<SignedTransfer> => {
  assert(
    previous.every((one) => one.nonce === nonce),
    'a replacement has the same nonce',
  )
  const { chainId } = vault
  const { to, data, from } = callOf(vault, call)
  const current = await nodes.query(async (node) => ({
    fees: await readFees(node, chainId),
    gas: await estimateGas(node, chainId, { to, data, ...(from !== undefined && { from }) }),
  }))
  const fees = nextFees(current.fees, previous, feeCapPerGas)
  const signed = await signCall(signer, { chainId, to, data, gas: current.gas, nonce, fees })
  return { ...signed, nonce, lastValidHeight: null, ...fees }
}
