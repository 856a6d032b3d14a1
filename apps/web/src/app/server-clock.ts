/** A `Date` header has whole seconds, and a response takes some time. */
const EXACT_TO_MS = 2_000

let offsetMs = 0

/** Learns from a response how far the clock of this device is off. */
export function readServerDate(response: Response): Response {
  const date = Date.parse(response.headers.get('date') ?? '')
  const difference = date - Date.now()
  if (!Number.isNaN(date)) offsetMs = Math.abs(difference) > EXACT_TO_MS ? difference : 0
  return response
}

/** The time of the server: deadlines are counted by it, also where the clock of the device is wrong. */
export const serverNow = (): number => Date.now() + offsetMs
