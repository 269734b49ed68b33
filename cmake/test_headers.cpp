// Does nothing: the program of this file carries the precompiled headers of the tests (SextantTargets.cmake).
int main() { return 0; }
