import { createContext, type ReactNode, startTransition, useContext, useEffect, useState } from 'react'
import { ago, shortAgo } from '../format.ts'
import { serverNow } from '../server-clock.ts'

const Now = createContext(0)
const EVERY_MS = 15_000

/** The time from which ages are counted: first when the page was drawn, then the server's clock. */
export function NowProvider({
  drawnAt,
  children,
}: {
  readonly drawnAt: number
  readonly children: ReactNode
}) {
  const [now, setNow] = useState(drawnAt)
  useEffect(() => {
    // Parts of a page that are not drawn yet keep the time of the server's drawing until they are.
    const update = () => startTransition(() => setNow(serverNow()))
    update()
    const timer = setInterval(update, EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  return <Now value={now}>{children}</Now>
}

export const useNow = (): number => useContext(Now)

interface AgoProps {
  readonly at: string
  /** "18 s" instead of "18 seconds ago". */
  readonly isShort?: boolean
}

export const Ago = ({ at, isShort = false }: AgoProps) => {
  const now = useNow()
  return (
    <time className="muted sm nowrap" dateTime={at} title={at}>
      {isShort ? shortAgo(at, now) : ago(at, now)}
    </time>
  )
}
