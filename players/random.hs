-- A random player: any free cell, any piece left.
--
-- Run it:  runghc random.hs                 (Debian package: ghc)
-- Build:   ghc -O -o random-hs random.hs
-- It reads requests `BOARD PIECE` and answers `CELL GIFT`; see ../protocol.md.

module Main (main) where

import Data.Bits (shiftR)
import Data.Char (isSpace)
import Data.List ((\\))
import Data.Time.Clock.POSIX (getPOSIXTime)
import System.Environment (lookupEnv)
import System.IO

-- The value of an environment variable, unless it is unset or empty.
setting :: String -> IO (Maybe String)
setting name = do
  value <- lookupEnv name
  return (if value == Just "" then Nothing else value)

-- The characters that stand for the pieces.
readPieces :: IO [Char]
readPieces = setting "REFEREE_PIECES" >>= maybe (return ['A' .. 'P']) fromFile
  where
    fromFile path = do
      file <- openFile path ReadMode
      hSetEncoding file utf8
      text <- hGetContents file
      -- Without the header and blank lines; a field may be quoted.
      let rows = map (dropWhile isSpace) (drop 1 (lines text))
      return [if c == '"' then head rest else c | c : rest <- rows]

-- A linear congruential generator; the base library has none.
type Seed = Integer

next :: Seed -> Seed
next seed = (seed * 6364136223846793005 + 1442695040888963407) `mod` (2 ^ (64 :: Int))

-- One of the items, by the generator's high bits; `-` when there is none.
choose :: Seed -> [String] -> String
choose _ [] = "-"
choose seed items =
  items !! fromInteger ((seed `shiftR` 33) `mod` toInteger (length items))

answer :: [Char] -> Seed -> String -> String -> String
answer pieces seed board hand = choose seed cells ++ " " ++ choose (next seed) left
  where
    cells = [show i | hand /= "-", (i, '.') <- zip [1 :: Int ..] board]
    left = map pure (pieces \\ (board ++ hand))

serve :: [Char] -> Seed -> IO ()
serve pieces seed = do
  end <- isEOF
  if end
    then return ()
    else do
      line <- getLine
      case words line of
        [board, hand] -> do
          hPutStrLn stderr ("info gifts " ++ show (length (pieces \\ (board ++ hand)))) -- what it thinks, for its record
          putStrLn (answer pieces seed board hand)
        _ -> error ("not a request: " ++ line)
      serve pieces (next (next seed))

main :: IO ()
main = do
  mapM_ (`hSetEncoding` utf8) [stdin, stdout] -- whatever the locale says
  hSetBuffering stdout LineBuffering -- flush after each line
  pieces <- readPieces
  seed <- setting "REFEREE_SEED" >>= maybe (round <$> getPOSIXTime) (return . read)
  serve pieces (next seed)
