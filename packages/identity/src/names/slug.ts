const SLUG_LENGTH = 64

/** Paths below `/api/agents/`: an agent with such a slug could not be requested by it. */
const RESERVED_SLUGS: ReadonlySet<string> = new Set(['me', 'featured', 'register', 'recover', 'link'])

/** Lower-case words joined by hyphens, without accents. Letters of other scripts stay. */
export function slugOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
  // One letter may decompose into many; the slug with a suffix must fit the column.
  const short = [...slug]
    .slice(0, SLUG_LENGTH)
    .join('')
    .replace(/^-+|-+$/g, '')
  if (short === '') return 'agent'
  return RESERVED_SLUGS.has(short) ? `agent-${short}` : short
}
