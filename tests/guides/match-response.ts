type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** Stands for any value, or for any part of a text. */
const ANY = '…'

/** Parses an example of a response. `…` is a value that differs in every run, or fields that are left out. */
export function parseExample(text: string): Json {
  const parts = text.split(/("(?:[^"\\]|\\.)*")/)
  const plain = parts.map((part, at) =>
    at % 2 === 1 ? part : part.replaceAll(/[:,]?\s*…/g, (cut) => (cut.startsWith(':') ? `: "${ANY}"` : '')),
  )
  return JSON.parse(plain.join(''))
}

/** Every JSON value that begins and ends with a line of the output. */
export function jsonIn(output: string): readonly Json[] {
  const lines = output.trimEnd().split('\n')
  const found: Json[] = []
  for (let start = 0; start < lines.length; start++) {
    if (!/^[[{]/.test(lines[start] ?? '')) continue
    for (let end = lines.length; end > start; end--) {
      const value = parsed(lines.slice(start, end).join('\n'))
      if (value === undefined) continue
      found.push(value)
      start = end - 1
      break
    }
  }
  return found
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The fields of the example that the response lacks or has with another value. */
export function differences(example: Json, response: Json | undefined, path = 'response'): readonly string[] {
  if (example === ANY && response !== undefined) return []
  if (Array.isArray(example)) {
    if (!Array.isArray(response)) return [`${path} is no list`]
    return example.flatMap((item, at) =>
      response.some((one) => differences(item, one).length === 0)
        ? []
        : differences(item, response[at], `${path}[${at}]`),
    )
  }
  if (typeof example === 'object' && example !== null) {
    const fields = typeof response === 'object' && response !== null ? Object.entries(response) : []
    const values = new Map<string, Json>(fields)
    return Object.entries(example).flatMap(([key, value]) =>
      differences(value, values.get(key), `${path}.${key}`),
    )
  }
  const isSame = typeof example === 'string' ? matches(example, response) : example === response
  return isSame
    ? []
    : [`${path} is ${JSON.stringify(response)}, and the page says ${JSON.stringify(example)}`]
}

function matches(example: string, response: Json | undefined): boolean {
  const parts = example.split(ANY).map((part) => RegExp.escape(part))
  return typeof response === 'string' && new RegExp(`^${parts.join('.*')}$`, 's').test(response)
}
