import { createContext } from 'react';

/** The address of the guide about the open page; null: none. */
export const GuideContext = createContext<string | null>(null);
