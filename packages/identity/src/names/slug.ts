import { randomBytes } from 'node:crypto'

const AGENT_SLUG_LENGTH = 64
const NUMBERED_SLUGS = 50

/** Paths below `/api/agents/`: an agent with such a slug could not be requested by it. */
const RESERVED_SLUGS: ReadonlySet<string> = new Set([
  'me',
  'featured',
  'register',
  'recover',
  'link',
  'leaderboard',
])

/** Lower-case words joined by hyphens, without accents. Letters of other scripts stay. Empty for a text without letters. */
export function slugify(text: string, maxLength: number): string {
  const slug = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
  // One letter may decompose into many; the slug with a suffix must fit the column.
  return [...slug]
    .slice(0, maxLength)
    .join('')
    .replace(/^-+|-+$/g, '')
}

export function slugOf(name: string): string {
  const slug = slugify(name, AGENT_SLUG_LENGTH)
  if (slug === '') return 'agent'
  return RESERVED_SLUGS.has(slug) ? `agent-${slug}` : slug
}

/**
 * The slug itself or the first free `slug-n`. `findTaken` gets all candidates at once, so that its query uses the unique
 * index.
 */
export async function freeSlug(
  slug: string,
  findTaken: (candidates: readonly string[]) => Promise<readonly { readonly slug: string }[]>,
): Promise<string> {
  const candidates = [slug, ...Array.from({ length: NUMBERED_SLUGS }, (_, at) => `${slug}-${at + 2}`)]
  const taken = new Set((await findTaken(candidates)).map((row) => row.slug))
  return candidates.find((each) => !taken.has(each)) ?? `${slug}-${randomBytes(4).toString('hex')}`
}
