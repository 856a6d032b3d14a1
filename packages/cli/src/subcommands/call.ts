import type { Operation } from '@market/contract/define'
import type { Market } from '@market/sdk'
import { command } from '../command.ts'
import type { Session } from '../session.ts'
import type { CredentialKind } from '../settings/settings.ts'
import { readSigner } from '../settings/wallet-key.ts'
import { UsageError } from '../usage-error.ts'

/** Only these commands need the contract. */
const loadContract = async () => {
  const [fields, { checkInput }, { operationList }] = await Promise.all([
    import('@market/contract/operation-fields'),
    import('@market/contract/check-input'),
    import('@market/contract/operations'),
  ])
  return { ...fields, checkInput, operations: operationList.filter(isCallable) }
}

/** Operators have a program of their own. Files are sent by `market deliver`, purchases are paid by `market hire`. */
const isCallable = ({ callers, file, payment }: Operation): boolean =>
  file === undefined &&
  payment?.when !== 'always' &&
  callers.some((kind) => kind !== 'admin' && kind !== 'admin_key')

/** The ids of what `market call` calls, for the completion too. */
export const callableIds = async (): Promise<string[]> =>
  (await loadContract()).operations.map(({ id }) => id)

async function findCallable(id: string) {
  const contract = await loadContract()
  const known = contract.findOperation(id, contract.operations)
  if ('found' in known) return { ...contract, operation: known.found }
  throw new UsageError(`${id} is not an operation for this program.${known.hint}`, 'market call')
}

export const call = command({
  name: 'call',
  summary: 'Call any operation of the API; without one, list them',
  parameters: ['operation?', 'field=value…'],
  options: {
    'wallet-file': {
      type: 'string',
      value: 'path',
      about: 'a private key or Solana keypair that signs the request, instead of the credential',
    },
  },
  notes: [
    'The response is printed as JSON. market call <operation> --help describes one operation.',
    'A value that is not text is written as JSON: deliverables=\'[{"type":"text","content":"412 words"}]\'',
  ],
  examples: ['market call listBounties status=open limit=5', 'market call getAgent agent_id=word-counter'],
  describe: async ([id = '']) => {
    const { describeOperation, operation } = await findCallable(id)
    return describeOperation(operation, 'market')
  },
  run: async ({ values, parameters: [id, ...given] }, session) => {
    if (id === undefined) return listOperations()
    const { operation, inputOf, splitField, checkInput } = await findCallable(id)
    const help = `market call ${id} --help`
    const fields = given.map((text) => {
      const field = splitField(text)
      if (field === undefined) throw new UsageError(`${text} is not a field. Write field=value.`, help)
      return field
    })
    const input = inputOf(operation, fields)
    const checked = checkInput(operation.input, withOwnAgent(input))
    if ('invalid' in checked) throw new UsageError(`${checked.invalid.message}.`, help)
    const market = await clientFor(operation, values['wallet-file'], session)
    const methods = market as unknown as Record<string, (input: object) => Promise<unknown>>
    const response = await session.during('Waiting for the API …', async () => methods[id]?.(input))
    return { json: response, print: (printer) => printer.json(response) }
  },
})

/** The API knows `me` only after it knows the caller; any id has the form that is checked here. */
const withOwnAgent = (input: Readonly<Record<string, unknown>>) =>
  input['agent_id'] === 'me' ? { ...input, agent_id: 'agt_me' } : input

async function listOperations() {
  const { operations, usageOf } = await loadContract()
  return {
    json: operations.map(({ id, summary, method, path }) => ({ id, summary, method, path })),
    print: (printer: Session['printer']) => {
      printer.entries(operations.map((one) => [usageOf(one).slice('call '.length), one.summary] as const))
    },
  }
}

/** The wallet that the user named, else a stored credential that the operation takes, else nobody where it is public. */
async function clientFor(
  { id, callers }: Operation,
  walletFile: string | undefined,
  session: Session,
): Promise<Market> {
  const kinds = (['agent', 'user'] as const).filter((kind): kind is CredentialKind => callers.includes(kind))
  const isForWallets = callers.includes('wallet')
  if (walletFile !== undefined || (isForWallets && kinds.length === 0)) {
    const wallet = await readSigner(walletFile, session.environment)
    if (wallet !== undefined) return session.asWallet(wallet)
    throw new UsageError(
      `${id} needs the signature of a wallet. Pass --wallet-file, or set MARKET_WALLET_KEY.`,
    )
  }
  const { as, credential } = session.settings
  const chosen = as === undefined ? kinds : kinds.filter((kind) => kind === as)
  const isPublic = callers.includes('anonymous')
  return isPublic && !chosen.some((kind) => credential(kind) !== undefined)
    ? session.anonymous()
    : session.signedIn(...kinds).market
}
