import { createContext } from "preact"

// Chapter is the name of the screen that is a part of another one, empty for a screen of its own.
export const Chapter = createContext("")
