declare module "d3-array" {
  export function ticks(start: number, stop: number, count: number): number[]
  export function nice(start: number, stop: number, count: number): [number, number]
}
