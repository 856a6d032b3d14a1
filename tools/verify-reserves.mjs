// Verifies the proof of reserves of an Agent Market: that your money is in the published roots, that these roots are
// anchored on Solana, and that the treasuries hold what is owed. One file without dependencies, Node 20 or newer.
// docs/contract/solvency.md describes what is hashed.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'

const USAGE = `node verify-reserves.mjs --api <url> --rpc solana-mainnet=<url> --rpc base-mainnet=<url> [options]
  --rpc <network>=<url>      a node that you trust; repeat it for every network
  --usdc <network>=<address> the USDC token, where it is not the one of Solana or Base mainnet
  --key <market_…>           an API key: fetches the proofs of that agent in the newest anchored snapshots
  --proof <file>             instead: a saved response of GET /api/solvency/proof
  --max-age <minutes>        how old the newest snapshot of a treasury may be (15)
  --tries <n>, --wait <s>    how often a treasury is compared when money moved in between (3 times, every 10 s)`

const USDC = {
  'solana-mainnet': 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  'base-mainnet': '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
}
const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const MAX_ANCHOR_AGE_DAYS = 2
const DAY_MS = 86_400_000
const IN_FLIGHT_MS = 3_600_000
/** Pages of 1,000 transactions that are searched for a second memo of the same day. */
const MEMO_PAGES = 20

const sha256 = (...lines) => createHash('sha256').update(lines.join('\n')).digest('hex')

function micros(usd) {
  const [, whole, part] = /^(\d+)\.(\d{2,6})$/.exec(usd) ?? []
  if (whole === undefined) throw new Error(`${usd} is not an amount`)
  return BigInt(whole + part.padEnd(6, '0'))
}

const usd = (amount) => (Number(amount) / 1e6).toFixed(6).replace(/0{1,4}$/, '')

/** The root and the sum that a leaf and its path result in; undefined for a negative sum, which would hide a debt. */
function rootBy({ leaf, path }) {
  const amounts = [leaf.micros, ...path.map((step) => step.sum)]
  if (!amounts.every((amount) => /^\d+$/.test(amount))) return undefined
  let sum = BigInt(leaf.micros)
  let hash = sha256('market.reserves.leaf.v1', leaf.salt, leaf.account, leaf.holder, sum)
  for (const step of path) {
    const [mine, beside] = [
      [hash, sum],
      [step.hash, BigInt(step.sum)],
    ]
    const [left, right] = step.side === 'left' ? [beside, mine] : [mine, beside]
    hash = sha256('market.reserves.node.v1', ...left, ...right)
    sum = left[1] + right[1]
  }
  return { hash, sum }
}

function textOf({ day, networks }) {
  const lines = networks.flatMap(({ network, snapshot_id, root, total_micros, agent_wallets }) => [
    `${network} ${snapshot_id} ${root} ${total_micros}`,
    ...(agent_wallets === null
      ? []
      : [`${network}:agent-wallets ${snapshot_id} ${agent_wallets.root} ${agent_wallets.total_micros}`]),
  ])
  return `market.reserves.v1 ${day} ${sha256(...lines.sort())}`
}

async function getJson(url, headers = {}) {
  const response = await fetch(url, { headers })
  const body = await response.json()
  if (!response.ok) throw new Error(`${url}: ${response.status} ${body.error ?? ''}`)
  return body
}

async function call(url, method, params) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const body = await response.json()
  if (!('result' in body)) throw new Error(`${method}: ${body.error?.message ?? response.status}`)
  return body.result
}

/** A payout that left long ago is not in flight any more: listed all the same, it would hide what is missing. */
const isRecent = (seconds) => seconds * 1_000 > Date.now() - IN_FLIGHT_MS

const solana = {
  async balance(rpc, usdc, treasury) {
    const { value } = await call(rpc, 'getTokenAccountsByOwner', [
      treasury,
      { mint: usdc },
      { encoding: 'jsonParsed', commitment: 'confirmed' },
    ])
    return value.reduce((sum, one) => sum + BigInt(one.account.data.parsed.info.tokenAmount.amount), 0n)
  },
  transaction: (rpc, signature, commitment) =>
    call(rpc, 'getTransaction', [
      signature,
      { encoding: 'jsonParsed', commitment, maxSupportedTransactionVersion: 0 },
    ]),
  /** What the transaction took from the treasury; 0 when it was not executed. */
  async sent(rpc, usdc, treasury, reference) {
    const found = await solana.transaction(rpc, reference, 'confirmed')
    if (found === null || found.meta.err !== null || !isRecent(found.blockTime)) return 0n
    const held = (balances) =>
      balances
        .filter(({ owner, mint }) => owner === treasury && mint === usdc)
        .reduce((sum, { uiTokenAmount }) => sum + BigInt(uiTokenAmount.amount), 0n)
    return held(found.meta.preTokenBalances) - held(found.meta.postTokenBalances)
  },
}

const evm = {
  async balance(rpc, usdc, treasury) {
    const data = `0x70a08231${treasury.slice(2).toLowerCase().padStart(64, '0')}`
    return BigInt(await call(rpc, 'eth_call', [{ to: usdc, data }, 'latest']))
  },
  async sent(rpc, usdc, treasury, reference) {
    const receipt = await call(rpc, 'eth_getTransactionReceipt', [reference])
    if (receipt?.status !== '0x1') return 0n
    const { timestamp } = await call(rpc, 'eth_getBlockByNumber', [receipt.blockNumber, false])
    if (!isRecent(Number(timestamp))) return 0n
    return receipt.logs
      .filter(
        ({ address, topics: [topic, from] }) =>
          address.toLowerCase() === usdc.toLowerCase() &&
          topic === TRANSFER_TOPIC &&
          `0x${from.slice(26)}` === treasury.toLowerCase(),
      )
      .reduce((sum, { data }) => sum + BigInt(data), 0n)
  },
}

const chainOf = (network) => (network === 'solana-mainnet' ? solana : evm)

/** Whether the memo that everyone can read is the text of the API, signed by the treasury and by nothing else that day. */
async function checkAnchor(anchor, rpc, treasury) {
  const { day, text, anchored } = anchor
  if (textOf(anchor) !== text) return 'the text is not the hash of the listed roots'
  if (anchored.account !== treasury) return `signed by ${anchored.account}, not by the treasury ${treasury}`
  const found = await solana.transaction(rpc, anchored.signature, 'finalized')
  if (found === null || found.meta.err !== null) return `${anchored.signature} is not on the chain`
  const { accountKeys, instructions } = found.transaction.message
  if (accountKeys[0].pubkey !== treasury) return `the transaction is signed by ${accountKeys[0].pubkey}`
  const memos = instructions.filter(({ programId }) => programId === MEMO_PROGRAM).map(({ parsed }) => parsed)
  if (memos.length !== 1 || memos[0] !== text) return `the memo on the chain is ${JSON.stringify(memos)}`
  const others = (await memosOfDay(rpc, treasury, day)).filter((memo) => memo !== text)
  if (others.length > 0) return `the treasury published another text of that day: ${others[0]}`
  return undefined
}

async function memosOfDay(rpc, treasury, day) {
  const found = []
  let before
  for (let page = 0; page < MEMO_PAGES; page++) {
    const options = { limit: 1_000, commitment: 'finalized', ...(before && { before }) }
    const rows = await call(rpc, 'getSignaturesForAddress', [treasury, options])
    // Nodes prefix a memo by its length.
    for (const { memo, err } of rows)
      if (err === null && memo?.includes(`market.reserves.v1 ${day} `))
        found.push(memo.replace(/^\[\d+\] /, ''))
    const last = rows.at(-1)
    if (rows.length < 1_000 || last.blockTime * 1_000 < Date.parse(day)) break
    before = last.signature
  }
  return found
}

/** The root and the sum that were published for the tree of a proof. */
function publishedFor(proof, anchors, networks) {
  const isWallet = proof.leaf.account.startsWith('wallet:')
  for (const { networks: anchoredNetworks, anchored, day } of anchors)
    for (const entry of anchoredNetworks)
      if (anchored !== null && entry.snapshot_id === proof.snapshot_id) {
        const tree = isWallet ? entry.agent_wallets : entry
        if (tree !== null)
          return { root: tree.root, sum: BigInt(tree.total_micros), where: `anchored ${day}` }
      }
  const newest = networks.find(({ proof: one }) => one?.snapshot_id === proof.snapshot_id)
  if (newest === undefined || isWallet) return undefined
  const { root, liabilities_usd } = newest.proof
  return { root, sum: micros(liabilities_usd), where: 'published, not anchored' }
}

function checkInclusion(proof, published) {
  if (published === undefined) return `snapshot ${proof.snapshot_id} is neither anchored nor published`
  const result = rootBy(proof)
  if (result === undefined) return 'a sum is not a number of zero or more'
  const { hash, sum } = result
  if (hash !== published.root)
    return `the proof results in another root than the one that is ${published.where}`
  if (sum !== published.sum) return `the proof adds up to ${usd(sum)} instead of ${usd(published.sum)}`
  return undefined
}

/** Compares one treasury with the chain. What is in flight counts only as far as the chain shows that it left. */
async function compareTreasury({ network, treasury, cold, liabilities_usd, ...one }, rpc, usdc, maxAgeMs) {
  const chain = chainOf(network)
  if (Date.parse(one.checked_at) < Date.now() - maxAgeMs)
    return { problem: `the newest snapshot is of ${one.checked_at}` }
  const listed = one.in_flight.reduce((sum, { amount_usd }) => sum + micros(amount_usd), 0n)
  const isWhole = one.in_flight_count === one.in_flight.length
  if (isWhole ? listed !== micros(one.in_flight_usd) : listed > micros(one.in_flight_usd))
    return { problem: `the transactions in flight add up to ${usd(listed)}, not to ${one.in_flight_usd}` }
  const inCold = cold ? await chain.balance(rpc, usdc, cold.address) : 0n
  const held = inCold + (await chain.balance(rpc, usdc, treasury))
  let left = 0n
  const references = one.in_flight.flatMap(({ reference, replaces }) => [reference, ...replaces])
  if (new Set(references).size < references.length)
    return { problem: 'a transaction in flight is listed twice' }
  for (const { reference, replaces, amount_usd } of one.in_flight)
    for (const each of [reference, ...replaces])
      if ((await chain.sent(rpc, usdc, treasury, each)) === micros(amount_usd)) left += micros(amount_usd)
  // Only the marketplace knows which vaults hold it, so this part is as it says.
  const inVenues = micros(one.venues_usd ?? '0.00')
  const missing = micros(liabilities_usd) - left - held - inVenues
  const where = cold ? `, ${usd(inCold)} of it at ${cold.address}` : ''
  const venues = inVenues > 0n ? `, says that venues hold ${usd(inVenues)}` : ''
  const detail = `holds ${usd(held)}${where}, sent ${usd(left)} in flight${venues}, owes ${liabilities_usd}`
  return missing > 0n ? { problem: `${detail}: ${usd(missing)} is missing` } : { detail }
}

const pairs = (texts = []) =>
  Object.fromEntries(
    texts.map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]),
  )

async function main() {
  const { values } = parseArgs({
    options: {
      api: { type: 'string' },
      rpc: { type: 'string', multiple: true },
      usdc: { type: 'string', multiple: true },
      key: { type: 'string' },
      proof: { type: 'string' },
      tries: { type: 'string', default: '3' },
      wait: { type: 'string', default: '10' },
      'max-age': { type: 'string', default: '15' },
    },
  })
  if (values.api === undefined) throw new Error('--api is required')
  const rpcs = pairs(values.rpc)
  const usdc = { ...USDC, ...pairs(values.usdc) }
  const rows = []
  const row = (check, problem, detail = '') =>
    rows.push({ result: problem === undefined ? 'ok' : 'FAILED', check, detail: problem ?? detail })
  const skip = (check, detail) => rows.push({ result: 'skipped', check, detail })
  const get = (path, headers) => getJson(`${values.api.replace(/\/$/, '')}${path}`, headers)

  let networks = (await get('/api/solvency')).data
  const anchors = (await get('/api/solvency/anchors?limit=100')).data
  const newest = anchors.find(({ anchored }) => anchored !== null)
  const treasury = networks.find(({ network }) => network === 'solana-mainnet')?.treasury
  const rpc = rpcs['solana-mainnet']
  if (newest === undefined) row('anchor', 'no day is anchored')
  else {
    if (Date.parse(newest.day) < Date.now() - (MAX_ANCHOR_AGE_DAYS + 1) * DAY_MS)
      row('anchor age', `the newest anchor is of ${newest.day}`)
    if (rpc === undefined) skip(`anchor ${newest.day}`, 'no --rpc for solana-mainnet')
    else row(`anchor ${newest.day}`, await checkAnchor(newest, rpc, treasury), newest.anchored.signature)
  }

  const proofs = []
  if (values.proof !== undefined)
    proofs.push(...[JSON.parse(readFileSync(values.proof, 'utf8'))].flatMap((one) => one.data ?? one))
  if (values.key !== undefined)
    for (const { snapshot_id } of newest?.networks ?? []) {
      const authorization = `Bearer ${values.key}`
      proofs.push(
        ...(await get(`/api/solvency/proof?limit=100&snapshot_id=${snapshot_id}`, { authorization })).data,
      )
    }
  for (const proof of proofs) {
    const published = publishedFor(proof, anchors, networks)
    const anchor = anchors.find((one) =>
      one.networks.some(({ snapshot_id }) => snapshot_id === proof.snapshot_id),
    )
    let problem = checkInclusion(proof, published)
    if (problem === undefined && rpc !== undefined && anchor?.anchored && anchor !== newest)
      problem = await checkAnchor(anchor, rpc, treasury)
    row(`leaf ${proof.leaf.account}`, problem, `${usd(proof.leaf.micros)} is included, ${published?.where}`)
  }
  if (proofs.length === 0)
    skip('leaves', 'nothing is owed to the caller, or neither --key nor --proof is given')

  for (const { network } of networks) {
    if (rpcs[network] === undefined || usdc[network] === undefined) {
      skip(`treasury ${network}`, `no --${rpcs[network] === undefined ? 'rpc' : 'usdc'} for ${network}`)
      continue
    }
    let compared
    for (let n = 1; n <= Number(values.tries); n++) {
      const one = networks.find((entry) => entry.network === network)
      compared = await compareTreasury(one, rpcs[network], usdc[network], Number(values['max-age']) * 60_000)
      if (compared.problem === undefined || n === Number(values.tries)) break
      // A payout may have left after the snapshot: the next snapshot lists it.
      await pause(Number(values.wait) * 1_000)
      networks = (await get('/api/solvency')).data
    }
    row(`treasury ${network}`, compared.problem, compared.detail)
  }
  const width = Math.max(...rows.map(({ check }) => check.length))
  for (const { result, check, detail } of rows)
    console.log(`${result.padEnd(8)} ${check.padEnd(width)}  ${detail}`)
  return rows.every(({ result }) => result !== 'FAILED')
}

try {
  process.exitCode = (await main()) ? 0 : 1
} catch (error) {
  console.error(`${error.message}\n\n${USAGE}`)
  process.exitCode = 1
}
